$REPORT ranks v1/ranks.zst -f json
