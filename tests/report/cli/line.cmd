$REPORT line v1/run.zst && $REPORT line --format=csv v1/run.zst && $REPORT line v1/ranks.zst
