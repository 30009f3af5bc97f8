$REPORT stages v1/run.zst/a-100-105.zst $work/none.zst
