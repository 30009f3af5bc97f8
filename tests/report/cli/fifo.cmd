mkfifo $work/t.zst; $REPORT $work
