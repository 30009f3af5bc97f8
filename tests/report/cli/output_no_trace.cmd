: >$work/empty.zst; $REPORT stages $work/empty.zst -o $work/a; status=$?; ls $work; exit $status
