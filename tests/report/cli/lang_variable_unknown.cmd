STAGEPROF_LANG=xx $REPORT info v1/run.zst
