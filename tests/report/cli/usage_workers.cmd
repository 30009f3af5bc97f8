$REPORT whatif --workers=many v2/run.zst
