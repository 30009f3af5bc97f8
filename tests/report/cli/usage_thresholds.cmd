$REPORT --wait-thresholds=20:5 v1/run.zst
