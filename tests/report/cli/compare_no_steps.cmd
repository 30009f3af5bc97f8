$REPORT compare v2/run.zst v2/run.zst --limit=3 --fail-if-slower=5%
