$REPORT --fail-if-slower=5% v1/run.zst
