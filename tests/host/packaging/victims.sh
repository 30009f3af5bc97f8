# SPDX-License-Identifier: Apache-2.0
# Sourced after roots.sh: the tests of tests/exact and tests/cuda in a root file system.

# sp_unpack ARCHITECTURE: the wheel's files, in data.
sp_unpack()
{
	sp_wheel=$(sp_package wheel "$1")
	python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall("unpacked")' \
		"$sp_wheel"
	rm -rf data
	mv unpacked/*.data data
	chmod 755 data/scripts/*
	cp "$SP_ROOT"/tests/host/packaging/{used,into_usr_local}.sh .
}

# sp_exact ROOT COMPILER TEST...: builds the victims for the root, whose headers and libc the
# compiler takes, and runs the tests there with the library of the wheel, by exact.sh.
sp_exact()
{
	local root=$1 compiler=$2
	local libraries link target
	shift 2
	libraries=$root/usr/lib/$("$compiler" -dumpmachine)
	# Links to the linker and to libraries, which are absolute, as they are inside the root.
	find "$root"/lib*/ "$libraries" -type l -lname '/*' |
		while IFS= read -r link; do # lib may be usr/lib, so a link comes twice
			target=$(readlink "$link")
			[ "$target" = "${target#/}" ] ||
				ln --symbolic --force --relative "$root$target" "$link"
		done
	rm -rf built victims checkout
	cmake -S "$SP_ROOT" -B built -D STAGEPROF_ONLY_VICTIMS=ON -D CMAKE_SYSTEM_NAME=Linux \
		-D CMAKE_SYSROOT="$root" -D CMAKE_C_COMPILER="$compiler" -D CMAKE_C_FLAGS="-B$libraries" \
		-D CMAKE_BUILD_TYPE=RelWithDebInfo -D CMAKE_BUILD_RPATH_USE_ORIGIN=ON \
		-D CMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
		> built.txt 2>&1 || sp_fail "victims: $(tail -n 20 built.txt)"
	cmake --build built -j "$(nproc)" >> built.txt 2>&1 ||
		sp_fail "victims: $(grep -A6 error built.txt | tail -n 20)"
	mkdir -p victims checkout/tests/programs
	cp -r built/victims built/cuda_victims built/fake_cuda victims/
	cp -r "$SP_ROOT/tests/exact" "$SP_ROOT/tests/cuda" checkout/tests/
	cp -r "$SP_ROOT/tests/programs/victims" checkout/tests/programs/
	cp "$SP_ROOT/tests/host/packaging/exact.sh" .
	echo 'bash /mnt/into_usr_local.sh && bash /mnt/exact.sh "$@"' > inside.sh
	sp_enter "$root" bash /mnt/inside.sh "$@" > exact.txt 2>&1 ||
		sp_fail "$(grep -vE '\.\.\. (ok|skipped)' exact.txt | tail -n 60)"
	grep -E '^(== |Ran )' exact.txt
}
