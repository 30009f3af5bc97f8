$REPORT stages --format=csv v2/run.zst
