$REPORT summary v1/ranks.zst -w 120 | grep -A2 "own cost"
