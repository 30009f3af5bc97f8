$REPORT compare v2/ranks.zst v2/ranks.zst v2/run.zst --fail-if-slower=5%
