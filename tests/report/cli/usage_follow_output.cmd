$REPORT --follow -o $work/x v2/run.zst
