$REPORT stages v1/run.zst
