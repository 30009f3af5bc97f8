#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/gpu-check where there is nothing to check: status 77, and what it needs; packed, and with
# no PyTorch at all.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

expect() {
	local words=$1 status=0
	shift
	"$@" > "$folder/out" 2> "$folder/err" || status=$?
	if [[ $status != 77 || -s $folder/out ]] || ! grep -q "$words: nothing to check. It needs an NVIDIA GPU" "$folder/err"; then
		echo "status $status of: $*" >&2
		cat "$folder/out" "$folder/err" >&2
		exit 1
	fi
}

# Pythons whose PyTorch is as we say, whether python3 has one or not.
mkdir -p "$folder"/{none,cpu,blind}/torch
echo 'raise ModuleNotFoundError("No module named torch", name="torch")' > "$folder/none/torch/__init__.py"
echo 'class version: cuda = None' > "$folder/cpu/torch/__init__.py"
printf 'class version: cuda = "13.0"\nclass cuda:\n    is_available = staticmethod(lambda: False)\n' > "$folder/blind/torch/__init__.py"
"$root/scripts/gpu-check" --pack "$folder/packed" > /dev/null
for program in "$root/scripts/gpu-check" "$folder/packed/gpu-check"; do
	expect "has no PyTorch" env PYTHONPATH="$folder/none" PYTHON=python3 "$program"
	expect "is not built for CUDA" env PYTHONPATH="$folder/cpu" PYTHON=python3 "$program"
	expect "sees no GPU" env PYTHONPATH="$folder/blind" PYTHON=python3 "$program"
done
# Help and wrong options need nothing.
"$folder/packed/gpu-check" --help | grep -q -- --seconds
status=0
PYTHONPATH=$folder/none "$folder/packed/gpu-check" --only=resnet 2> "$folder/err" || status=$?
[[ $status == 2 ]] && grep -q "choose from" "$folder/err"
# A glibc that is older than what was packed.
cp -r "$folder/packed" "$folder/newer"
echo 99.1 > "$folder/newer/glibc"
status=0
"$folder/newer/gpu-check" --help > "$folder/out" 2> "$folder/err" || status=$?
[[ $status == 1 && ! -s $folder/out && $(wc -l < "$folder/err") == 1 ]] && grep -q "was packed for 99.1 or later" "$folder/err"
# The folder has all that a bare machine needs.
for file in gpu-check glibc check.py judge.py kineto.py measure.py results.py train.py real.cu \
	libstageprof.so stageprof-report; do
	[[ -e $folder/packed/$file ]] || { echo "not packed: $file" >&2; exit 1; }
done
env -i "LD_LIBRARY_PATH=$folder/packed/lib" "$folder/packed/stageprof-report" --version > /dev/null
