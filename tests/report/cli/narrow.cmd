$REPORT files --width=60 v2/run.zst
