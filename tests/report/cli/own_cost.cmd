$REPORT summary v2/ranks.zst -w 120 | grep -A2 "own cost"
