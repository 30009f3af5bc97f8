$REPORT --from=soon v2/run.zst
