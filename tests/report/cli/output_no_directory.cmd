$REPORT stages v1/run.zst -o $work/none/a
