$REPORT steps --width=80 -n 3 v2/gpu.zst; $REPORT steps --width=60 -n 3 v2/ranks.zst; $REPORT epochs --width=60 v2/ranks.zst
