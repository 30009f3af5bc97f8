$REPORT compare v2/run.zst v2/run.zst -f csv
