mkdir $work/run.zst && cp v2/run.zst/0-run-0001.zst $work/run.zst && mkfifo $work/run.zst/a.zst && $REPORT summary $work/run.zst
