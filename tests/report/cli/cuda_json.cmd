$REPORT cuda --format=json v2/gpu.zst
