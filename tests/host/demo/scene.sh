# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder: a fresh working folder, what was built, and verdicts.
# From CMakeLists.txt: SP_ROOT (source tree), SP_BUILD (build tree), SP_WORK (this test's own
# folder).
set -euo pipefail
shopt -s inherit_errexit nullglob

library=$SP_BUILD/libstageprof.so
report=$SP_BUILD/stageprof-report
# Nothing of the caller's own profiling may leak in.
unset LD_PRELOAD ${!STAGEPROF_@}
rm -rf "$SP_WORK"
mkdir -p "$SP_WORK"
cd "$SP_WORK"

sp_fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

sp_skip()
{
	echo "SKIP: $*"
	exit 77
}

# Prints an interpreter that imports torch, PIL and the modules given, or skips the test.
sp_python_find()
{
	"$SP_ROOT/scripts/find-python.sh" "$@" || return 77
}

# Fails unless the runs that lie in this folder are exactly those named.
sp_runs_expect()
{
	local found=(*.zst)
	[[ ${found[*]} == "$*" ]] || sp_fail "runs: '${found[*]}', expected '$*'"
}

# Prints one value of a JSON file: sp_json FILE EXPRESSION, where d is the document.
sp_json()
{
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"
}

# Prints the calls of a stage, 0 if it is not there: sp_stage_calls FILE STAGE
sp_stage_calls()
{
	sp_json "$1" "sum(s['calls'] for s in d['stages'] if s['stage'] == '$2')"
}

# Waits for processes that outlive their trainer: multiprocessing's resource tracker does.
sp_run_wait()
{
	local pid
	"$report" processes --format=json "$1" > waiting.json
	for pid in $(sp_json waiting.json "' '.join(str(p['pid']) for p in d['processes'])"); do
		timeout 60 tail --pid="$pid" -f /dev/null || sp_fail "process $pid is still there"
	done
}
