$REPORT card --width=80 v2/gpu.zst; $REPORT card --width=80 v2/run.zst; $REPORT card --width=80 --against=v2/ranks.zst v2/ranks.zst; $REPORT workers --against=v2/ranks.zst v2/ranks.zst
