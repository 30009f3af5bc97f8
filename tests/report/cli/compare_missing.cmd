$REPORT compare v2/run.zst $work/missing.zst
