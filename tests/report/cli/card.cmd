$REPORT card --width=80 v2/gpu.zst; $REPORT card --width=80 v2/run.zst; $REPORT card --width=80 --against=v1/ranks.zst v1/ranks.zst; $REPORT workers --against=v1/ranks.zst v1/ranks.zst
