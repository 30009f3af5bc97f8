$REPORT dump --format=json --process=101 --limit=4 v2/run.zst
