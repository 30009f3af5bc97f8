$REPORT modules v2/gpu.zst
