STAGEPROF_LANG=zh_CN $REPORT --width=60 explain storage-bound
