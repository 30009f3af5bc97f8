$REPORT stages --format=csv v2/run.zst -o - | head -1
