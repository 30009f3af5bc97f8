$REPORT threads v2/run.zst; $REPORT threads --width=80 v2/run.zst
