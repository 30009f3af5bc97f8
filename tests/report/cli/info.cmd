$REPORT info v2/run.zst
