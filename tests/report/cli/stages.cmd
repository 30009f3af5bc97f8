$REPORT stages v2/run.zst
