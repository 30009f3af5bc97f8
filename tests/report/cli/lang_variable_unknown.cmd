STAGEPROF_LANG=xx $REPORT info v2/run.zst
