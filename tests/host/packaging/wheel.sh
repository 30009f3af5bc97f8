# SPDX-License-Identifier: Apache-2.0
# The wheel: small, for glibc 2.17, installed by pip into an empty environment without a network,
# used, and removed without a rest.
. "$(dirname "$0")/package.sh"

wheel=$(sp_package wheel "$(uname -m)" 2> package.txt)
cat package.txt >&2
grep -q 'the wheel has [0-9,]* bytes of ' package.txt || sp_fail "scripts/package gives no size"
! grep "too many: CONTRIBUTING.md, Size" package.txt || sp_fail "the wheel is too large"

python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall("unpacked")' "$wheel"
data=$(echo unpacked/*.data)
python3 -B "$SP_ROOT/tests/builds/glibc_floor.py" library "$data/data/lib/libstageprof.so"
python3 -B "$SP_ROOT/tests/builds/glibc_floor.py" program "$data"/scripts/*
unwinder=$data/data/lib/stageprof/unwinder.so
if ! grep -q 'is without libunwind' package.txt; then # its sources come by the network, once
	[[ -e $unwinder ]] || sp_fail "the wheel has no libunwind, and scripts/package does not say so"
	python3 -B "$SP_ROOT/tests/builds/glibc_floor.py" library "$unwinder"
fi
# The library is the one that all other tests run, without its debug symbols.
if grep -qx 'CMAKE_BUILD_TYPE:STRING=RelWithDebInfo' "$SP_BUILD/CMakeCache.txt" &&
	grep -qx 'CMAKE_C_FLAGS:STRING=' "$SP_BUILD/CMakeCache.txt"; then
	for section in .text .rodata .data; do
		objcopy -O binary -j $section "$SP_BUILD/libstageprof.so" tested$section
		objcopy -O binary -j $section "$data/data/lib/libstageprof.so" wheel$section
		[[ -s wheel$section ]] || sp_fail "no section $section"
		cmp tested$section wheel$section || sp_fail "the tests run another library"
	done
fi
! readelf -S --wide "$data/data/lib/libstageprof.so" "$data"/scripts/* | grep -E ' \.(debug_|symtab)' ||
	sp_fail "the wheel is not stripped"
for licence in LICENSE NOTICES.md LGPL-3.txt libelf-dev.txt; do
	[[ -s $(echo unpacked/*.dist-info/licenses/$licence) ]] || sp_fail "no licence $licence"
done
grep -q '"bom-ref": "zstd"' unpacked/*.dist-info/sboms/stageprof.cdx.json || sp_fail "no bill of materials"
if [[ -n $sp_python ]]; then
	"$sp_python" -c 'import glob, packaging.metadata
text = open(glob.glob("unpacked/*.dist-info/METADATA")[0], encoding="utf-8").read()
assert not text.count("](docs/"), "a link that leads nowhere"
packaging.metadata.Metadata.from_email(text, validate=True)' || sp_fail "the metadata"
fi
again=$(STAGEPROF_DIST=$SP_WORK/again "$SP_ROOT/scripts/package" wheel "$(uname -m)")
cmp "$wheel" "$again" || sp_fail "the same sources made other bytes"

python3 -m venv --without-pip environment 2> /dev/null || sp_skip "no python3-venv"
python=$SP_WORK/environment/bin/python
pip=(python3 -m pip --python "$python")
"${pip[@]}" --version > /dev/null 2>&1 || sp_skip "no pip that installs into another environment"
# pip refuses it for another processor and for an older glibc.
for platform in manylinux_2_17_other "manylinux_2_12_$(uname -m)"; do
	if python3 -m pip install --no-index --no-deps --target=none --only-binary=:all: \
		--platform="$platform" "$wheel" > pip.txt 2>&1; then
		sp_fail "pip installed the wheel for $platform"
	fi
	grep -q '^ERROR: stageprof.* is not a supported wheel on this platform' pip.txt ||
		sp_fail "pip: $(cat pip.txt)"
done

files()
{
	find environment -not -type d -not -path '*/__pycache__/*' | sort
}
files > before.txt
"${pip[@]}" install --no-index --quiet "$wheel"

# Neither a compiler nor anything of this machine's but the environment and the usual tools.
mkdir tools
for tool in ls cat grep; do ln -s "$(command -v $tool)" tools/; done
export PATH=$SP_WORK/environment/bin:$SP_WORK/tools
counts()
{
	stageprof-report files --format=json "$1" > files.json
	python - <<'PROGRAM'
import json

rows = json.load(open("files.json"))["files"]
data = [row for row in rows if "data.bin" in json.dumps(row)]
assert len(data) == 1 and 100000 in data[0].values() and 100 in data[0].values(), data
PROGRAM
}
stageprof run --quiet -- python train.py > out.txt
counts run.zst || sp_fail "stageprof run missed reads"
python -m stageprof run --quiet --output=module.zst -- python train.py > out.txt 2> err.txt
[[ ! -s err.txt ]] || sp_fail "the launcher did not find the run that it named: $(cat err.txt)"
counts module.zst || sp_fail "python -m stageprof run missed reads"
LD_PRELOAD=$(python -c 'from stageprof import library_path; print(library_path())') \
	STAGEPROF_OUTPUT=preload.zst python train.py > out.txt
counts preload.zst || sp_fail "library_path() is not the library"
version=$(stageprof --version)
[[ "stageprof $(python -c 'import stageprof; print(stageprof.__version__)')" == "$version" &&
	${wheel##*/} == "${version/ /-}-py3-"* ]] || sp_fail "another version than $version"
stageprof doctor -- python train.py > doctor.txt 2>&1 || sp_fail "doctor: $(cat doctor.txt)"

if [[ -e $unwinder ]]; then
	cat > slow.py <<-'PROGRAM'
		for _ in range(20):
		    with open("data.bin", "rb", buffering=0) as file:
		        file.readall()
		print({line.split()[-1] for line in open("/proc/self/maps") if "unwind" in line})
	PROGRAM
	stageprof run --quiet --output=stacks.zst --stacks='file_read>1us' -- python slow.py \
		> maps.txt
	[[ $(cat maps.txt) == "{'"*"/environment/lib/stageprof/unwinder.so'}" ]] ||
		sp_fail "another libunwind than the wheel's, or none: $(cat maps.txt)"
	stageprof-report stacks --format=json stacks.zst > stacks.json
	grep -q '"event":"read",.*"frames":"[^"]*;' stacks.json ||
		sp_fail "no stack of a slow read: $(cat stacks.json)"
	grep -q 'stageprof has its own libunwind' doctor.txt || sp_fail "doctor: $(cat doctor.txt)"
fi

# SQLite and zstd are in the programs without the parts that nothing asks for.
stageprof-report export sqlite run.zst -o run.db > out.txt
python - <<'PROGRAM' || sp_fail "the database of the wheel's stageprof-report"
import sqlite3

database = sqlite3.connect("run.db")
reads = "SELECT count(*) FROM dump WHERE event = 'read' AND file LIKE '%/data.bin'"
assert database.execute(reads).fetchall() == [(100,)], database.execute(reads).fetchall()
assert database.execute("SELECT count(*) FROM summary").fetchone()[0] > 5
PROGRAM
stageprof-report digest run.zst -o run.spd > out.txt
stageprof-report stages --format=csv run.zst > whole.csv
stageprof-report stages --format=csv run.spd > digest.csv
[[ $(< whole.csv) == "$(< digest.csv)" ]] || sp_fail "the digest: $(cat digest.csv)"

# Late: this process records from then on, and what it starts records whole.
python - <<'PROGRAM' || sp_fail "stageprof.start"
import subprocess
import sys

import stageprof

assert stageprof.start(output="late.zst") is True
assert stageprof.start() is False
subprocess.run([sys.executable, "train.py"], check=True, stdout=subprocess.DEVNULL)
PROGRAM
counts late.zst || sp_fail "a program started after stageprof.start() was not recorded"

# A libc without these symbols: one line, and the command runs.
for libc in "glibc 2.12" none; do
	cat > other_libc.py <<-PROGRAM
		import os, runpy, sys
		os.confstr = lambda name: "$libc"
		sys.argv = ["stageprof", "run", "--output=none.zst", "--", "python", "-c", "exit(6)"]
		runpy.run_module("stageprof", run_name="__main__")
	PROGRAM
	status=0
	python other_libc.py 2> err.txt || status=$?
	[[ $status -eq 6 && $(grep -c '' err.txt) -eq 1 && ! -e none.zst ]] ||
		sp_fail "$libc: status $status: $(cat err.txt)"
	grep -q '^stageprof: it needs glibc.*; python runs unrecorded$' err.txt ||
		sp_fail "$libc: $(cat err.txt)"
done

# Nobody may write where the package is.
cat > "$SP_WORK/read_only.sh" <<'COMMANDS'
set -eu
mount --bind environment environment
mount -o remount,bind,ro environment
stageprof run --quiet --output=ro.zst -- python train.py > out.txt 2> err.txt
python -m stageprof run --quiet --output=ro_module.zst -- python train.py >> out.txt 2>> err.txt
COMMANDS
if PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --mount true 2> /dev/null; then
	PATH=$PATH:/usr/sbin:/usr/bin:/sbin:/bin unshare --mount /bin/bash read_only.sh ||
		sp_fail "read-only: $(cat err.txt)"
	[[ ! -s err.txt ]] || sp_fail "read-only: $(cat err.txt)"
	counts ro.zst || sp_fail "a read-only environment misses reads"
	counts ro_module.zst || sp_fail "a read-only environment misses reads of the module"
fi

python -m stageprof kernel install --prefix=kernels > /dev/null 2> err.txt
python -c 'import json; assert json.load(open("kernels/share/jupyter/kernels/stageprof/kernel.json"))["argv"][1] == "run"'
grep -q "with $PWD/environment/bin/python: it has no ipykernel" err.txt || sp_fail "$(cat err.txt)"
if ! python -m stageprof kernel install --prefix=/proc/none 2> err.txt; then
	grep -q '^stageprof: cannot write the kernel into /proc/none' err.txt || sp_fail "$(cat err.txt)"
else
	sp_fail "a kernel was written into /proc"
fi

PATH=/usr/bin:/bin:$PATH
"${pip[@]}" uninstall --quiet --yes stageprof
files > after.txt
diff before.txt after.txt || sp_fail "pip uninstall left files"
sp_tried / "the wheel by pip, in an empty environment without a network"
