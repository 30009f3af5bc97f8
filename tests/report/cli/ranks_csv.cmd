$REPORT ranks v2/ranks.zst -f csv --sort=behind --steps=:9
