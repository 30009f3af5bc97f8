$REPORT ranks v1/run.zst
