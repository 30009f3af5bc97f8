$REPORT compare v1/run.zst
