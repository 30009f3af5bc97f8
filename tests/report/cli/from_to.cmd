$REPORT stages --from=10ms --to=30ms v2/run.zst
