$REPORT stages --format=csv v2/run.zst -o /dev/stdout | head -1
