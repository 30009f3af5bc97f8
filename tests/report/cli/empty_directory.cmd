$REPORT $work
