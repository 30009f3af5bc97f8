$REPORT sumary v2/run.zst; echo "status: $?"; $REPORT v2/run.zst wrokers; echo "status: $?"; $REPORT nosuchword
