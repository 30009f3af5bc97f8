$REPORT summary v2/gpu.zst
