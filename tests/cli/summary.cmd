$REPORT v1/run.zst
