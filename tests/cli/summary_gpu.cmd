$REPORT v2/gpu.zst
