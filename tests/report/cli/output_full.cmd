echo mine >$work/a; trap '' XFSZ; ulimit -f 1; $REPORT dump --format=json v2/run.zst --force -o $work/a; status=$?; cat $work/*; exit $status
