$REPORT processes v2/run.zst
