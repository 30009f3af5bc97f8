$REPORT stages --format=csv v1/run.zst -o - | head -1
