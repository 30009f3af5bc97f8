$REPORT --follow --interval=1ms v1/run.zst
