$REPORT processes --format=json v2/run.zst
