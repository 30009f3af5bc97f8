$REPORT export sqlite v2/run.zst -o $work/none/a; $REPORT export nothing v2/run.zst; $REPORT export perfetto
