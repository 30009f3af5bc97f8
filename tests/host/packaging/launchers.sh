# SPDX-License-Identifier: Apache-2.0
# Launchers and notebooks, from one environment with PyTorch into which pip puts the wheel and the
# launchers: torchrun (as a module), accelerate launch, Ray's workers, and a notebook under the
# kernel that `stageprof kernel install` wrote. Each worker's reads are there. Needs the
# network.
. "$(dirname "$0")/package.sh"

[[ -n $sp_python ]] || sp_skip "no STAGEPROF_TEST_PYTHON"
modules=$("$sp_python" -c '
import os, torch
print(os.path.dirname(os.path.dirname(torch.__file__)))') || sp_skip "no PyTorch"
wheel=$(sp_package wheel "$(uname -m)")
"$sp_python" -m venv environment || sp_skip "no venv"
echo "$modules" > "$(echo environment/lib/python3*/site-packages)/pytorch.pth"
environment/bin/pip install --quiet --disable-pip-version-check "$wheel" \
	ray==2.60.0 accelerate==1.15.0 nbclient==0.11.0 ipykernel 2> pip.txt ||
	sp_skip "pip: $(tail -n 1 pip.txt)"
export PATH=$SP_WORK/environment/bin:$PATH HOME=$SP_WORK OMP_NUM_THREADS=1

# reads RUN NUMBER: the run has so many reads of data.bin.
reads()
{
	stageprof-report files --format=json "$1" > files.json
	grep -q "/data.bin\",.*\"reads\":$2,.*\"read_bytes\":$(($2 * 1000))," files.json ||
		sp_fail "$1 has not $2 reads: $(grep data.bin files.json)"
}

timeout 120 stageprof run --quiet --output=torchrun.zst -- \
	python -m torch.distributed.run --standalone --nproc-per-node=2 train.py \
	> out.txt 2> err.txt ||
	sp_fail "torchrun: $(cat err.txt)"
reads torchrun.zst 200

timeout 120 stageprof run --quiet --output=accelerate.zst -- accelerate launch --cpu \
	--num_processes=1 --num_machines=1 --mixed_precision=no --dynamo_backend=no train.py \
	> out.txt 2> err.txt || sp_fail "accelerate: $(cat err.txt)"
reads accelerate.zst 100

cat > with_ray.py <<'PROGRAM'
import os

import ray

FILE = os.path.abspath("data.bin")


@ray.remote
def read():
    with open(FILE, "rb", buffering=0) as file:
        return sum(len(file.read(1000)) for _ in range(100))


ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
assert ray.get([read.remote() for _ in range(3)]) == [100000] * 3
PROGRAM
timeout 200 stageprof run --quiet --output=ray.zst -- python with_ray.py > out.txt 2> err.txt ||
	sp_fail "Ray: $(tail -n 20 err.txt)"
reads ray.zst 300

stageprof kernel install --sys-prefix --output="$SP_WORK/kernel.zst" > out.txt
cat > notebook.ipynb <<'NOTEBOOK'
{"cells": [{"cell_type": "code", "id": "a", "execution_count": null, "metadata": {}, "outputs": [],
  "source": ["exec(open('train.py').read())"]}],
 "metadata": {"kernelspec": {"name": "stageprof", "display_name": "", "language": "python"}},
 "nbformat": 4, "nbformat_minor": 5}
NOTEBOOK
timeout 200 jupyter execute --inplace notebook.ipynb > out.txt 2> err.txt ||
	sp_fail "jupyter execute: $(tail -n 20 err.txt)"
grep -q 100000 notebook.ipynb || sp_fail "the notebook did not run"
reads kernel.zst 100
sp_tried / "the wheel under torchrun, accelerate, Ray and \`jupyter execute\`"
