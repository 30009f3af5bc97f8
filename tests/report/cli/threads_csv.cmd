$REPORT threads --format=csv v1/run.zst
