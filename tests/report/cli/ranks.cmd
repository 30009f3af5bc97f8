$REPORT ranks v1/ranks.zst
