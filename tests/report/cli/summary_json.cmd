$REPORT --format=json v2/run.zst
