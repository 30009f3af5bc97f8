# SPDX-License-Identifier: Apache-2.0
# PyTorch's wheel for aarch64 under qemu-user, with the library of stageprof's: three steps of a
# training with two workers are recorded to the last read. PyTorch 2.8 is the last whose wheel for
# aarch64 is for the CPU alone: later ones bring gigabytes of CUDA. `import torch` takes a minute
# there.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"
. "$(dirname "$0")/arm64.sh"
. "$(dirname "$0")/victims.sh"

sp_unpack aarch64
pip=(python3 -m pip install --quiet --disable-pip-version-check --target=torch --no-deps
	--only-binary=:all: --python-version=3.11 --implementation=cp)
for platform in manylinux_2_28 manylinux_2_27 manylinux_2_17 manylinux2014; do
	pip+=("--platform=${platform}_aarch64")
done
"${pip[@]}" torch==2.8.0 numpy==2.2.6 sympy==1.14.0 'mpmath<1.4' typing-extensions networkx jinja2 \
	markupsafe fsspec filelock 2> pip.txt || sp_skip "pip: $(tail -n 1 pip.txt)"
cp "$SP_ROOT/tests/host/packaging/trainer.py" .
cat > inside.sh <<'COMMANDS'
set -euo pipefail
bash /mnt/into_usr_local.sh
mount -t sysfs sysfs /sys # PyTorch asks it for the processors
cp /mnt/data.bin /tmp
cd /tmp
PYTHONPATH=/mnt/torch OMP_NUM_THREADS=1 stageprof run --quiet --output=/mnt/torch.zst -- \
	python3 /mnt/trainer.py 24 2
COMMANDS
SECONDS=0
sp_enter "$sp_arm64" bash /mnt/inside.sh > inside.txt 2>&1 || sp_fail "$(cat inside.txt)"
echo "three steps of PyTorch under emulation: $SECONDS s"
sp_same_reports torch.zst
python3 - <<'PROGRAM'
import json


def from_file(name):
    return json.loads(open(f"native/torch.zst/{name}.json.txt").read().split("\nstatus")[0])


files = {row["name"]: row for row in from_file("files")["files"]}
assert files["/tmp/data.bin"]["reads"] == 24, files["/tmp/data.bin"]
assert len(from_file("steps")["steps"]) == 3, from_file("steps")["steps"]
coverage = [row["text"] for row in from_file("summary")["coverage"]]
assert any(text.startswith("torch-markers\tbound\t") for text in coverage), coverage
# PyTorch announces these by callbacks, whose result has its address in a register of its own.
ranges = from_file("ranges")["ranges"]
announced = {row["name"]: row["calls"] for row in ranges if row["event"] == "torch_range"}
assert announced == {
    "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__": 4,
    "Optimizer.zero_grad#SGD.zero_grad": 3,
    "Optimizer.step#SGD.step": 3,
}, announced
nodes = {row["name"]: row["calls"] for row in ranges if row["event"] == "torch_backward"}
assert nodes["AddmmBackward0"] == 3 and nodes["torch::autograd::AccumulateGrad"] == 6, nodes
PROGRAM
rm -rf torch
sp_tried "$sp_arm64" \
	"PyTorch 2.8.0+cpu: three steps with two workers, each read; the same report on x86-64" \
	" arm64 under qemu-user"
