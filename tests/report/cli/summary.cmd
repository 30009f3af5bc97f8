$REPORT summary v1/run.zst
