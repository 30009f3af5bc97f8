$REPORT files --sort=nonsense v2/run.zst
