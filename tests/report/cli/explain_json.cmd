$REPORT --format=json explain sync-bound
