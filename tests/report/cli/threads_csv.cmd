$REPORT threads --format=csv v2/run.zst
