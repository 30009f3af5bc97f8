$REPORT --fail-if-hung=5m v2/run.zst
