$REPORT sumary v1/run.zst; echo "status: $?"; $REPORT v1/run.zst wrokers; echo "status: $?"; $REPORT nosuchword
