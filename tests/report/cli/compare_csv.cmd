$REPORT compare v1/run.zst v1/run.zst -f csv
