$REPORT compare --fail-if-slower=fast v1/run.zst v1/run.zst
