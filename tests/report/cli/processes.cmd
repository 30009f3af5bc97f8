$REPORT processes v1/run.zst
