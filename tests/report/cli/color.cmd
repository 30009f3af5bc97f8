$REPORT stages --color=always --limit=1 v1/run.zst | od -c | head -2
