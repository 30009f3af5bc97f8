LANG=zh_CN.UTF-8 LC_ALL= $REPORT v1/none.zst
