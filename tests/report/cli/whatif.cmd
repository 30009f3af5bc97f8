$REPORT whatif v1/run.zst
