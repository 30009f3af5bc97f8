$REPORT summary v2/run.zst
