$REPORT threads v1/run.zst
