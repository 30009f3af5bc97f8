$REPORT stages --all v1/run.zst
$REPORT files --all v1/run.zst --width=100 | cut -c-60
$REPORT whatif --all v1/run.zst
