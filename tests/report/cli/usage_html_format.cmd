$REPORT html --format=json v2/run.zst
