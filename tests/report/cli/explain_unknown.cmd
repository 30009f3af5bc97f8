$REPORT explain slow
