$REPORT stages --thread=105 v1/run.zst
