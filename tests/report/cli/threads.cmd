$REPORT threads v1/run.zst; $REPORT threads --width=80 v1/run.zst
