$REPORT v2/run.zst info | head -n 2
