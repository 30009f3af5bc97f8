$REPORT files --format=csv v2/run.zst
