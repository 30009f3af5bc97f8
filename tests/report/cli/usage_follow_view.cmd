$REPORT --follow dump v2/run.zst
