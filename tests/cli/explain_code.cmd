$REPORT explain decode-bound
