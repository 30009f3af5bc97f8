$REPORT files --format=csv v1/run.zst
