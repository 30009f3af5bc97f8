#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/gpu-check on the processor: all but the GPU's part of it runs. Exit 77 without PyTorch.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
PYTHON=$("$root/scripts/find-python.sh") || exit 77
export PYTHON OMP_NUM_THREADS=1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
options=(--dry-run --only=resnet/eager --pairs=1 --steps=2 --timed-steps=12 --warmup=1 --batch=2)
check() {
	local wanted=$1 status=0
	shift
	"$root/scripts/gpu-check" "${options[@]}" --output="$folder/out.json" "$@" || status=$?
	[[ $status == "$wanted" ]] || {
		echo "status $status, and not $wanted, of gpu-check $*" >&2
		exit 1
	}
}
# In too little time; then the rest. The price is not judged on the processor.
check 3 --seconds=1
check 0
"$PYTHON" - "$folder/out.json" <<-'END'
	import json, sys
	answer = json.load(open(sys.argv[1]))
	done = answer["workloads"]["resnet/eager"]
	for part in ("broken", "undecided", "not_reached"):
	    assert answer[part] == [], answer
	assert done["compared"]["wall_ns"] > 0 and len(done["rounds"]) == 1
	assert all(run["ten_steps_ns"] > 0 for run in done["rounds"][0].values())
	assert 1 <= done["compared"]["steps_seen"]["count"] <= 2, done["compared"]["steps_seen"]
	assert done["overhead"]["rounds"] == 1
	assert done["compared"]["trace_bytes"] > 0 and done["compared"]["events_lost"] == 0
END
