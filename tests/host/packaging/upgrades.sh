# SPDX-License-Identifier: Apache-2.0
# pip upgrades and removes stageprof while a job runs under it: the job ends as it would, its own
# calls and those of its forked children are recorded, and the launcher's last lines are true. Two
# versions in two environments. No HOME, a locale that is not UTF-8, pip without ensurepip.
. "$(dirname "$0")/package.sh"

wheel=$(sp_package wheel "$(uname -m)")
SOURCE_DATE_EPOCH=1700000000 python3 -B "$SP_ROOT/packaging/wheel.py" \
	"$SP_ROOT/build/package/wheel-$(uname -m).tree" 99.0.0 \
	"py3-none-manylinux_2_17_$(uname -m)" "$SP_WORK" > /dev/null
newer=$(echo "$SP_WORK"/stageprof-99.0.0-*.whl)
for environment in one two; do
	python3 -m venv --without-pip $environment 2> /dev/null || sp_skip "no python3-venv"
done
pip()
{
	local environment=$1
	shift
	python3 -m pip --python "$SP_WORK/$environment/bin/python" --disable-pip-version-check "$@"
}
pip one --version > /dev/null 2>&1 || sp_skip "no pip that installs into another environment"
pip one install --quiet --no-index "$wheel"
pip two install --quiet --no-index "$newer"

cat > job.py <<'PROGRAM'
import os
import subprocess
import sys
import time


def read():
    with open("data.bin", "rb", buffering=0) as file:
        for _ in range(100):
            file.read(1000)


if sys.argv[1:] == ["child"]:
    read()
    sys.exit(0)
read()
open("begun", "w").close()
end = time.monotonic() + 60
while not os.path.exists("go") and time.monotonic() < end:
    time.sleep(0.01)
read()
child = os.fork()
if child == 0:
    read()
    os._exit(0)
os.waitpid(child, 0)
subprocess.run([sys.executable, "job.py", "child"], check=True)
sys.exit(7)
PROGRAM

# during RUN COMMAND...: a job that reads before and after the command.
during()
{
	local run=$1 job status=0
	shift
	rm -f begun go
	PATH=$SP_WORK/one/bin:$PATH stageprof run --output="$run.zst" -- python job.py \
		> "$run.txt" 2>&1 &
	job=$!
	for ((i = 0; i < 3000; i++)); do
		[[ ! -e begun ]] || break
		sleep 0.02
	done
	"$@"
	touch go
	wait $job || status=$?
	[[ $status -eq 7 ]] || sp_fail "$*: the job's status is $status: $(cat "$run.txt")"
}

# reads RUN NUMBER: the two versions report the same.
reads()
{
	two/bin/stageprof-report files --format=json "$1.zst" > "$1.json"
	grep -q "data.bin\".*\"reads\":$2," "$1.json" || sp_fail "$1: not $2 reads: $(cat "$1.json")"
}

during upgraded pip one install --quiet --no-index --upgrade "$newer"
reads upgraded 400
grep -q '^verdict ' upgraded.txt || sp_fail "no card after an upgrade: $(cat upgraded.txt)"
grep -q '^ *stageprof-report .*upgraded.zst' upgraded.txt || sp_fail "$(cat upgraded.txt)"

during removed pip one uninstall --quiet --yes stageprof
# The program that was started afterwards has no library to load, and ld.so says so.
reads removed 300
grep -q '^ERROR: ld.so: object .*libstageprof.so.* ignored.$' removed.txt ||
	sp_fail "the child did not say that it ran unrecorded: $(cat removed.txt)"
grep -q 'removed.zst; stageprof-report is not there any more' removed.txt ||
	sp_fail "the next command does not exist: $(cat removed.txt)"
! grep -q '^ *stageprof-report ' removed.txt || sp_fail "a command that is gone: $(cat removed.txt)"

# One version starts a program of the other's environment, and the other within the one.
pip one install --quiet --no-index "$wheel"
touch go
PATH=$SP_WORK/one/bin:$PATH stageprof run --quiet --output=beside.zst -- \
	two/bin/python train.py > out.txt
two/bin/stageprof run --quiet --output=outer.zst -- \
	one/bin/python -m stageprof run --quiet --output=inner.zst -- python3 train.py > out.txt
for run in beside inner; do
	reads $run 100
done

mkdir home
env -i PATH="$SP_WORK/one/bin:/usr/bin:/bin" LC_ALL=en_US.ISO-8859-1 \
	stageprof run --output=$'d\xe4ta.zst' -- python train.py > out.txt 2> err.txt ||
	sp_fail "no HOME: $(cat err.txt)"
env -i LC_ALL=en_US.ISO-8859-1 one/bin/stageprof-report files --format=json \
	$'d\xe4ta.zst' > out.txt
grep -q 'data.bin".*"reads":100,' out.txt || sp_fail "a name that is not UTF-8: $(cat out.txt)"

# No HOME: Jupyter's folder is in the user's home all the same. In a copy of /etc, for the home.
cat > kernel.sh <<'COMMANDS'
set -eu
sed "s,^\(root:[^:]*:[^:]*:[^:]*:[^:]*:\)[^:]*,\1$PWD/home," /etc/passwd > passwd
mount --bind passwd /etc/passwd
env -i PATH="$PWD/one/bin:/usr/bin:/bin" stageprof kernel install > kernel.txt 2>&1
COMMANDS
if [[ $(id -u) -eq 0 ]] && unshare --mount true 2> /dev/null; then
	unshare --mount bash kernel.sh || sp_fail "kernel install: $(cat kernel.txt)"
	[[ -s home/.local/share/jupyter/kernels/stageprof/kernel.json ]] ||
		sp_fail "without HOME the kernel is elsewhere: $(cat kernel.txt)"
fi
sp_tried / "pip upgrades and removes the wheel during a run; two versions at once; no HOME"
