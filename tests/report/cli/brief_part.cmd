$REPORT --width=80 --steps=5:15 v2/ranks.zst
