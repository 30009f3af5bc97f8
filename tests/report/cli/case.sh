#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# case.sh REPORT GOLDEN CASE [--update]: runs the command in CASE.cmd and compares stdout, stderr
# and status with CASE.expected. The command sees $REPORT and $work, an empty folder, and runs in
# the folder of golden runs.
set -u
REPORT=$1 expected=$3.expected
cmd=$(cat "$3.cmd")
export REPORT LC_ALL=C.UTF-8
unset COLUMNS NO_COLOR CLICOLOR_FORCE
cd "$2" || exit 1
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT
sh -c "$cmd" >"$work.out" 2>"$work.err"
status=$?
if [ $status = 77 ]; then
	cat "$work.err"
	rm -f "$work.out" "$work.err"
	exit 77
fi
{
	cat "$work.out"
	sed -e "s|$work|WORK|g" -e 's|^|stderr: |' "$work.err"
	echo "status: $status"
} >"$work.all"
rm -f "$work.out" "$work.err"
if [ "${4-}" = --update ]; then
	mv "$work.all" "$expected"
	exit 0
fi
diff -u "$expected" "$work.all"
result=$?
rm -f "$work.all"
exit $result
