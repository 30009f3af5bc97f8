echo mine >$work/a.csv; $REPORT stages --format=csv v2/run.zst --force -o $work/a.csv && head -1 $work/a.csv && ls $work
