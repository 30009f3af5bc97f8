$REPORT --follow dump v1/run.zst
