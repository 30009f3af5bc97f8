$REPORT stages --format=csv v2/run.zst -o $work/a.csv && $REPORT stages --format=csv v2/run.zst | cmp - $work/a.csv && ls $work
