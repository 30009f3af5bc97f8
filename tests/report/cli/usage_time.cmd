$REPORT --from=soon v1/run.zst
