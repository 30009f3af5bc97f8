$REPORT line v2/run.zst && $REPORT line --format=csv v2/run.zst && $REPORT line v2/ranks.zst
