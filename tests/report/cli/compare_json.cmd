$REPORT compare v2/ranks.zst v2/ranks.zst -f json
