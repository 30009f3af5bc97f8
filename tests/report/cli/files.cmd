$REPORT files v1/run.zst
