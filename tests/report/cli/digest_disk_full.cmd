$REPORT digest v2/run.zst >/dev/full
