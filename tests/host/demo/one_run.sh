# SPDX-License-Identifier: Apache-2.0
# Several processes under one preloaded command make one run, with a file for each process that
# recorded and none for shells and shims.
. "$(dirname "$0")/scene.sh"

python=$(python3 -c 'import sys; print(sys.executable)')
head -c 1000 /dev/urandom > data.bin
cat > reader.py <<'PROGRAM'
import os
file = os.open("data.bin", os.O_RDONLY)
for _ in range(500):
    os.pread(file, 7, 100)
os.write(1, b"%d\n" % os.getpid())  # at once: others write to the same stdout
PROGRAM

# Runs a command under the preload, checks that it made one run with READERS processes: those
# whose ids are in its stdout, each with its 500 reads of data.bin.
sp_one_run_expect()
{
	local readers=$1 pid calls name=data.bin
	shift
	rm -rf run.zst
	env LD_PRELOAD="$library" "$@" > out 2> err || sp_fail "$*: status $?: $(cat err)"
	[[ ! -s err ]] || sp_fail "$*: on stderr: $(cat err)"
	sp_runs_expect run.zst
	"$report" processes --format=json run.zst > processes.json
	sp_json processes.json "'\n'.join(str(p['pid']) for p in d['processes'])" | sort > recorded
	grep -x '[0-9]*' out | sort > expected
	[[ $(wc -l < expected) -eq $readers ]] || sp_fail "$*: stdout: $(cat out)"
	cmp recorded expected || sp_fail "$*: recorded $(xargs < recorded), ran $(xargs < expected)"
	for pid in $(cat expected); do
		"$report" files --format=json --process "$pid" run.zst > files.json
		calls=$(sp_json files.json "sum(f['reads'] for f in d['files'] if f['name'].endswith('/$name'))")
		[[ $calls -eq 500 ]] || sp_fail "$*: process $pid: $calls reads of $name, not 500"
	done
}

# Like a version manager's shim: starts other programs on its way to the interpreter.
mkdir shims
cat > shims/python <<SHIM
#!/bin/bash
here=\$(dirname "\$0")
version=\$(ls "\$here" | grep -c python)
[[ \$(cat /dev/null | sort | wc -l) -eq 0 ]] || exit 1
exec "$python" "\$@"
SHIM
chmod +x shims/python

sp_one_run_expect 1 "$python" reader.py
sp_one_run_expect 1 shims/python reader.py
sp_one_run_expect 1 env -i LD_PRELOAD="$library" "$python" reader.py
sp_one_run_expect 2 bash -c "'$python' reader.py & '$python' reader.py; wait"
sp_one_run_expect 2 bash -c "shims/python reader.py & shims/python reader.py; wait"
sp_one_run_expect 4 bash -c "for i in 1 2 3 4; do shims/python reader.py & done; wait"
sp_one_run_expect 2 bash -c "'$python' reader.py; '$python' reader.py"
sp_one_run_expect 2 sh -c "'$python' reader.py | (cat; '$python' reader.py)"

# The next command does not join, nor overwrite.
LD_PRELOAD=$library "$python" reader.py > /dev/null
sp_runs_expect run-2.zst run.zst
