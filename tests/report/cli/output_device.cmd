$REPORT stages --format=csv v1/run.zst -o /dev/stdout | head -1
