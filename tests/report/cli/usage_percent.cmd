$REPORT compare --fail-if-slower=fast v2/run.zst v2/run.zst
