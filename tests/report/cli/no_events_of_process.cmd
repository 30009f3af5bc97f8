$REPORT stages --process=7 v1/run.zst
