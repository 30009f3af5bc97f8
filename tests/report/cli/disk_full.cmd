$REPORT dump --format=json v2/run.zst >/dev/full
