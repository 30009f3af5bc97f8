$REPORT export sqlite v1/run.zst -o $work/none/a; $REPORT export nothing v1/run.zst; $REPORT export perfetto
