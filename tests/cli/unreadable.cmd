install -m 755 $REPORT $work/r; : >$work/t.zst; chmod 0 $work/t.zst; chmod 711 $work
as=; [ "$(id -u)" != 0 ] || as="setpriv --reuid=65534 --clear-groups"; $as $work/r $work/t.zst 2>&1 | sed "s/^r:/stageprof-report:/"
