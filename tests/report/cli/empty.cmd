: >$work/t.zst; $REPORT $work/t.zst
