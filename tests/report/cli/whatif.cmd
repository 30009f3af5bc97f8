$REPORT whatif v1/run.zst; $REPORT whatif --all --width=80 v1/ranks.zst
