echo mine >$work/a.csv; $REPORT stages --format=csv v2/run.zst -o $work/a.csv; status=$?; cat $work/a.csv; exit $status
