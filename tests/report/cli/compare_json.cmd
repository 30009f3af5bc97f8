$REPORT compare v1/ranks.zst v1/ranks.zst -f json
