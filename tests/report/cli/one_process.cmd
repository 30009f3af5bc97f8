$REPORT stages --process=101 v1/run.zst
