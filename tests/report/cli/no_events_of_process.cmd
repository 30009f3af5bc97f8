$REPORT stages --process=7 v2/run.zst
