# SPDX-License-Identifier: Apache-2.0
# The wheel for aarch64, made by the cross compiler: its oldest glibc, and used in a root file
# system of Debian 12 for arm64 under qemu-user, with that system's Python, Pillow and h5py.
# Emulation shows counts and endings, not prices.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"
. "$(dirname "$0")/arm64.sh"
. "$(dirname "$0")/victims.sh"

sp_unpack aarch64
bytes=$(stat -c %s "$sp_wheel")
((bytes < 2200000)) || sp_fail "the wheel has $bytes bytes: 2.2 MB are the most"
python3 -B "$SP_ROOT/tests/builds/glibc_floor.py" library data/data/lib/libstageprof.so \
	data/data/lib/stageprof/unwinder.so
python3 -B "$SP_ROOT/tests/builds/glibc_floor.py" program data/scripts/*
readelf -h data/data/lib/libstageprof.so | grep -q AArch64 || sp_fail "not for aarch64"
cat > decode.py <<'PROGRAM'
import io

import h5py
import numpy
from PIL import Image

Image.fromarray(numpy.zeros((64, 64, 3), "uint8")).save("image.jpg")
for _ in range(5):
    with open("image.jpg", "rb") as file:
        Image.open(io.BytesIO(file.read())).load()
with h5py.File("data.h5", "w") as file:
    file["x"] = numpy.zeros(100)
with h5py.File("data.h5", "r") as file:
    for _ in range(3):
        file["x"][:]
PROGRAM
cat > inside.sh <<'COMMANDS'
set -euo pipefail
bash /mnt/into_usr_local.sh
bash /mnt/used.sh
cd /tmp
stageprof run --quiet --output=decode.zst -- python3 /mnt/decode.py
stageprof-report stages --format=json decode.zst > /mnt/stages.json
cp -r decode.zst /mnt/
COMMANDS
sp_enter "$sp_arm64" bash /mnt/inside.sh > inside.txt 2>&1 || sp_fail "$(cat inside.txt)"
python3 - <<'PROGRAM'
import json

stages = {row["stage"]: row["calls"] for row in json.load(open("stages.json"))["stages"]}
assert stages["jpeg_decode"] == 5, stages
assert stages["hdf5_read"] == 3, stages
PROGRAM
# A run of each architecture, with and without training.
native=$SP_ROOT/build/package/wheel-$(uname -m).tree
"$native/bin/stageprof" run --quiet --output=native.zst -- python3 train.py > native.txt 2>&1 ||
	sp_fail "$(cat native.txt)"
sp_same_reports decode.zst native.zst
sp_tried "$sp_arm64" "the programs and the library of the aarch64 wheel; images and HDF5" " arm64 under qemu-user"
