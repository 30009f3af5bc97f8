$REPORT files v2/run.zst
