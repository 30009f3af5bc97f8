$REPORT dump --limit=12 v2/run.zst
