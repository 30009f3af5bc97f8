$REPORT --format=xml v1/run.zst
