$REPORT files --sort=nonsense v1/run.zst
