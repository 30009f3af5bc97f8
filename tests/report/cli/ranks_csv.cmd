$REPORT ranks v1/ranks.zst -f csv --sort=behind --steps=:9
