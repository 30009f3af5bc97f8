$REPORT $work/none.zst
