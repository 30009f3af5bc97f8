LANG=zh_CN.UTF-8 LC_ALL= $REPORT v2/none.zst
