$REPORT explain decode-bound --width=80 v2/gpu.zst; $REPORT explain input-bound --width=80 v2/gpu.zst
