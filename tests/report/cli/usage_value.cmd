$REPORT --format=xml v2/run.zst
