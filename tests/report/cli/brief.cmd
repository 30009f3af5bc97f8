$REPORT --width=80 v1/ranks.zst
