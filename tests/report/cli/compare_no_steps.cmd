$REPORT compare v1/run.zst v1/run.zst --limit=3 --fail-if-slower=5%
