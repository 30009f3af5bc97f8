$REPORT stages --sort=calls --limit=2 v1/run.zst
