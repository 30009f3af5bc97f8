$REPORT cuda --format=csv --table=memory_steps v2/gpu.zst
