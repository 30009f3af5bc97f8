$REPORT compare --fail-if-slower=5
