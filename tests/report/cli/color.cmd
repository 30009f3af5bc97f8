$REPORT stages --color=always --limit=1 v2/run.zst | od -c | head -2
