$REPORT --follow -o $work/x v1/run.zst
