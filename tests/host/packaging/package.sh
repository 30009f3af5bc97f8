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

sp_records=$SP_BUILD/tried/$(basename "$0" .sh).tsv
rm -rf "$SP_WORK" "$sp_records"
mkdir -p "$SP_WORK"
cd "$SP_WORK"
sp_python=${STAGEPROF_TEST_PYTHON-} # with PyTorch, or empty
sp_spack=${STAGEPROF_TEST_SPACK-} # a checkout of Spack, or empty
sp_spack_packages=${STAGEPROF_TEST_SPACK_PACKAGES-} # its packages, where it is Spack 1
sp_enroot=${STAGEPROF_TEST_ENROOT-} # the program enroot, or empty
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

# sp_tried ROOT WAY [EXTRA]: a record for the table of docs/INSTALL.md: this test was passed today,
# at this commit, on the system in ROOT, which is looked at for its name and versions. scripts/tried
# writes the table.
sp_tried()
{
	local root=${1%/} way=$2 extra=${3-} name version system python commit
	name=$(sed -n 's/^ID=//p' "$root/etc/os-release")
	version=$(sed -n 's/^VERSION_ID="\?\([^"]*\)"\?/\1/p' "$root/etc/os-release")
	[[ -n $version ]] || version=$(sed -n 's/^VERSION_CODENAME=//p' "$root/etc/os-release")
	system="${name^} $version"
	libc=$(strings -a "$root"/lib/*-linux-gnu/libc.so.6 2> /dev/null |
		sed -n 's/^GNU C Library .*version \([0-9.]*[0-9]\)[.,].*/\1/p')
	[[ -z $libc ]] || system+=", glibc $libc"
	python=$(readlink "$root/usr/bin/python3" || true)
	[[ -z $python ]] || system+=", Python ${python#python}"
	mkdir -p "${sp_records%/*}"
	commit=$(git -C "$SP_ROOT" rev-parse --short=7 HEAD 2> /dev/null || true)
	printf '%s\t%s\t%s\t%s\n' "$(date --utc +%F)" "$commit" "$system$extra" "$way" >> "$sp_records"
}
