$REPORT whatif v2/run.zst; $REPORT whatif --all --width=80 v2/ranks.zst
