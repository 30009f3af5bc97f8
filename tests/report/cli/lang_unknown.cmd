$REPORT --lang=xx v2/run.zst
