$REPORT explain SP206; $REPORT explain SP103; $REPORT --format=json explain SP203; $REPORT explain SP999
