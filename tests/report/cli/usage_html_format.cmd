$REPORT html --format=json v1/run.zst
