$REPORT summary --lang=zh_CN v1/run.zst
