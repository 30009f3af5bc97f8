$REPORT explain
