$REPORT compare v1/run.zst $work/missing.zst
