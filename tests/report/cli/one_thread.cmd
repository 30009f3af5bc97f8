$REPORT stages --thread=105 v2/run.zst
