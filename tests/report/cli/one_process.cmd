$REPORT stages --process=101 v2/run.zst
