$REPORT cuda v2/gpu.zst
