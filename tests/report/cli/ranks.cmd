$REPORT ranks v2/ranks.zst
