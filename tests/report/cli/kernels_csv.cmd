$REPORT kernels --format=csv v2/gpu.zst
