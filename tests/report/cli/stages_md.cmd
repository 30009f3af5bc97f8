$REPORT stages --format=md v2/run.zst
