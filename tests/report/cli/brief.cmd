$REPORT --width=80 v2/ranks.zst
