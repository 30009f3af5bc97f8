$REPORT kernels v2/run.zst
