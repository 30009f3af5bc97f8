$REPORT stages --format=csv v1/run.zst
