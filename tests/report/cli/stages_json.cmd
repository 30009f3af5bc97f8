$REPORT stages --format=json v2/run.zst
