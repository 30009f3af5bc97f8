# SPDX-License-Identifier: Apache-2.0
# Run in a root where stageprof is installed in /usr/local: the tests of tests/exact and tests/cuda
# that are named, with the victims in /mnt/victims. exact.sh TEST[:CLASS.CASE...]...
set -eu
export STAGEPROF_TEST_LIB=/usr/local/lib/libstageprof.so
export STAGEPROF_TEST_REPORT=/usr/local/bin/stageprof-report
export STAGEPROF_TEST_FAKE=/mnt/victims/fake_cuda PYTHONDONTWRITEBYTECODE=1
[[ -e /sys/kernel ]] || mount -t sysfs sysfs /sys
status=0
for words in "$@"; do
	IFS=: read -ra words <<< "$words"
	test=${words[0]}
	case $test in
	cuda/*) export STAGEPROF_TEST_VICTIMS=/mnt/victims/cuda_victims ;;
	*) export STAGEPROF_TEST_VICTIMS=/mnt/victims/victims ;;
	esac
	echo "== $test"
	SECONDS=0
	timeout --kill-after=10 900 python3 "/mnt/checkout/tests/$test.py" "${words[@]:1}" 2>&1 ||
		{ echo "status $?"; status=1; }
	echo "== $test: $SECONDS s"
done
exit $status
