cat v2/run.zst/* >$work/one.zst && $REPORT stages --format=json $work/one.zst >$work/a &&
$REPORT stages --format=json v2/run.zst >$work/b && cmp $work/a $work/b
