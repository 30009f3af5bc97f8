$REPORT stages --all v2/run.zst
$REPORT files --all v2/run.zst --width=100 | cut -c-60
$REPORT whatif --all v2/run.zst
