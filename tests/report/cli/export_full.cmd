echo mine >$work/a; trap '' XFSZ; ulimit -f 1; for name in perfetto chrome folded sqlite; do $REPORT export $name v2/run.zst --force -qo $work/a; echo $?; done; cat $work/*; ls $work
