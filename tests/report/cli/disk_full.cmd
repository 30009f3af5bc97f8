$REPORT dump --format=json v1/run.zst >/dev/full
