$REPORT whatif --workers=many v1/run.zst
