$REPORT summary --lang=zh_CN v2/run.zst
