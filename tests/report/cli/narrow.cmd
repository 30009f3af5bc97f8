$REPORT files --width=60 v1/run.zst
