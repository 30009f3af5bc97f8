$REPORT kernels --width=0 v2/gpu.zst
