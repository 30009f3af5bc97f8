LC_ALL=zh_CN.GBK $REPORT info v2/run.zst
