$REPORT compare v1/ranks.zst v1/ranks.zst v1/run.zst --fail-if-slower=5%
