$REPORT --nonsense v1/run.zst
