$REPORT dump --limit=12 v1/run.zst
