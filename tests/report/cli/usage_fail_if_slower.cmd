$REPORT --fail-if-slower=5% v2/run.zst
