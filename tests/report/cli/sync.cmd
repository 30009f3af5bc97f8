$REPORT sync v2/gpu.zst
