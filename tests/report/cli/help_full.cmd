$REPORT --help >/dev/full; echo $? >&2; $REPORT --version >/dev/full
