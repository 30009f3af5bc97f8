$REPORT stages --format=md v1/run.zst
