$REPORT --wait-thresholds=20:5 v2/run.zst
