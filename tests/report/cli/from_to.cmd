$REPORT stages --from=10ms --to=30ms v1/run.zst
