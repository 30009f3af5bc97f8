$REPORT stages --sort=calls --limit=2 v2/run.zst
