$REPORT stages v2/run.zst/a-100-105.zst $work/none.zst
