$REPORT --format=json v1/run.zst
