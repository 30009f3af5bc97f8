$REPORT kernels v1/run.zst
