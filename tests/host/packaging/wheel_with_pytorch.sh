# SPDX-License-Identifier: Apache-2.0
# The README's first commands, in an environment with PyTorch and nothing else: pip installs the
# wheel, a training runs under it, and the answer appears. There is no compiler on PATH. A second
# training calls stageprof.start().
. "$(dirname "$0")/package.sh"

[[ -n $sp_python ]] || sp_skip "no STAGEPROF_TEST_PYTHON"
modules=$("$sp_python" -c '
import os, torch
print(os.path.dirname(os.path.dirname(torch.__file__)))') || sp_skip "no PyTorch"
torch=$("$sp_python" -c 'import torch; print(torch.__version__)')
sp_package wheel "$(uname -m)" > /dev/null
"$sp_python" -m venv environment || sp_skip "no venv"
echo "$modules" > "$(echo environment/lib/python3*/site-packages)/pytorch.pth"
cp "$SP_ROOT/tests/host/packaging/trainer.py" train.py

mkdir tools build
ln -s .. build/dist # as the README says: build/dist/stageprof-*.whl
for tool in ls cat; do ln -s "$(command -v $tool)" tools/; done
mapfile -t commands < <(awk '/^    pip install build/ { on = 1 } !on { next } /^    / { print; next } { exit }' "$SP_ROOT/README.md")
[[ ${#commands[@]} -eq 2 && ${commands[0]} == *"pip install "* && ${commands[1]} == *" run "* ]] ||
	sp_fail "the README has other commands: ${commands[*]}"
SECONDS=0
for command in "${commands[@]}"; do
	PATH=$SP_WORK/environment/bin:$SP_WORK/tools PIP_NO_INDEX=1 "$BASH" -euc "$command" \
		> out.txt 2> err.txt || sp_fail "$command: $(cat out.txt err.txt)"
done
cat out.txt err.txt
for row in '^verdict ' '^a step ' '^training ' '^do first ' '^ended  *with success'; do
	grep -q "$row" out.txt err.txt || sp_fail "no row $row"
done
echo "installed and trained in $SECONDS s"
((SECONDS < 60)) || sp_fail "the README promises less than a minute"

# Late: a job that could not be started with an environment. Its steps and phases are recorded, and
# the report says what was bound before.
cat > late.py <<'PROGRAM'
import runpy
import sys

import stageprof

assert stageprof.start(output="late.zst") is True
sys.argv = ["train.py", "64", "2"]
runpy.run_path("train.py", run_name="__main__")
PROGRAM
environment/bin/python late.py > late.txt 2>&1 || sp_fail "stageprof.start(): $(cat late.txt)"
[[ ! -s late.txt ]] || sp_fail "stageprof.start() says: $(cat late.txt)"
for view in steps summary; do
	environment/bin/stageprof-report $view --format=json late.zst > $view.json
done
environment/bin/python - <<'PROGRAM' || sp_fail "the run of stageprof.start()"
import json

steps = json.load(open("steps.json"))["steps"]
assert len(steps) == 8, steps
summary = json.load(open("summary.json"))
times = {row["part"]: row["ns"] for row in summary["account"]}
assert all(times[part] for part in ("loader_wait", "forward", "backward", "optimizer")), times
notes = [note["text"] for note in summary["notes"]]
assert len(notes) == 1 and "loaded into a running program" in notes[0], notes
PROGRAM
environment/bin/stageprof-report summary --format=json run.zst > summary.json
! grep -q "loaded into a running program" summary.json || sp_fail "the run of the launcher is late"
sp_tried / "the first commands of the README, beside PyTorch $torch"
