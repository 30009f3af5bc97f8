# SPDX-License-Identifier: Apache-2.0
# Sourced: makes a package in $SP_WORK, and a small trainer.
set -euo pipefail

sp_fail()
{
	echo "FAILED: $*" >&2
	exit 1
}

sp_skip()
{
	echo "skipped: $*" >&2
	exit 77
}

rm -rf "$SP_WORK"
mkdir -p "$SP_WORK"
cd "$SP_WORK"
sp_python=${STAGEPROF_TEST_PYTHON-} # with PyTorch, or empty
unset LD_PRELOAD ${!STAGEPROF_@}
cat > train.py <<'PROGRAM'
with open("data.bin", "rb", buffering=0) as file:
    print(sum(len(file.read(1000)) for _ in range(100)))
PROGRAM
head -c 100000 /dev/zero > data.bin

# The path of the package of this kind. The sources are compiled
# once for all tests.
sp_package()
{
	STAGEPROF_DIST=$SP_WORK "$SP_ROOT/scripts/package" "$@" | tail -n 1
}
