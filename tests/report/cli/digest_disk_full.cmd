$REPORT digest v1/run.zst >/dev/full
