$REPORT dump --format=json --process=101 --limit=4 v1/run.zst
