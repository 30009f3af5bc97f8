$REPORT processes --format=json v1/run.zst
