$REPORT --follow --interval=1ms v2/run.zst
