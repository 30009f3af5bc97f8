$REPORT stages --format=json v1/run.zst
