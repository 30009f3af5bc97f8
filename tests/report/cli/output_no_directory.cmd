$REPORT stages v2/run.zst -o $work/none/a
