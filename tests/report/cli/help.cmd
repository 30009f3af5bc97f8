$REPORT --help
