$REPORT info v1/run.zst
