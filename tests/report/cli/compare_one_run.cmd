$REPORT compare v2/run.zst
