$REPORT summary ""; $REPORT ""
