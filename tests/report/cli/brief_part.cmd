$REPORT --width=80 --steps=5:15 v1/ranks.zst
