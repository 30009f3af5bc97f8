LC_ALL=zh_CN.GBK $REPORT info v1/run.zst
