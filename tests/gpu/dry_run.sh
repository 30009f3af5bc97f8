#!/bin/bash
# scripts/gpu-check on the processor: all but the GPU's part of it runs. Exit 77 without PyTorch.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
PYTHON=$("$root/scripts/find-python.sh") || exit 77
export PYTHON OMP_NUM_THREADS=1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$root/scripts/gpu-check" --dry-run --only=resnet/eager --pairs=1 --steps=2 --timed-steps=2 \
	--warmup=1 --batch=2 --output="$folder/out.json"
"$PYTHON" - "$folder/out.json" <<-'END'
	import json, sys
	answer = json.load(open(sys.argv[1]))
	done = answer["workloads"]["resnet/eager"]
	assert answer["broken"] == [], answer["broken"]
	assert done["compared"]["wall_ns"] > 0 and len(done["overhead"]["traced_ns"]) == 1
	assert 1 <= done["compared"]["steps_seen"]["count"] <= 2, done["compared"]["steps_seen"]
	assert len(done["overhead"]["events_quartiles"]) == 2
	assert done["compared"]["trace_bytes"] > 0 and done["compared"]["events_lost"] == 0
END
