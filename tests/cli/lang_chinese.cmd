$REPORT --lang=zh_CN v1/run.zst
