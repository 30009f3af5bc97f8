$REPORT --lang=xx v1/run.zst
