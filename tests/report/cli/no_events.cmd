mkdir $work/run.zst && cp v2/run.zst/0-run-0001.zst $work/run.zst && $REPORT summary $work/run.zst
