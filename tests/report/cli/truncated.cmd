head -c 1272 v2/run.zst/a-100-100.zst >$work/t.zst; $REPORT stages $work/t.zst
