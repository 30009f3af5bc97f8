$REPORT --nonsense v2/run.zst
