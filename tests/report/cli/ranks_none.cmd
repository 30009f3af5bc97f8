$REPORT ranks v2/run.zst
