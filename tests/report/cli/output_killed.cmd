{ (ulimit -f 1; ulimit -c 0; exec $REPORT dump --format=json v2/run.zst -o $work/a); echo $?; ls $work; } 2>/dev/null
