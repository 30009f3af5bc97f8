$REPORT v1/run.zst info | head -n 2
