# SPDX-License-Identifier: Apache-2.0
# The wheel for aarch64, made by the cross compiler: its oldest glibc, and used in a root file
# system of Debian 12 for arm64 under qemu-user, with that system's Python, Pillow and h5py.
# Emulation shows counts and endings, not prices. The emulator is Debian 13's qemu 10, because qemu
# 7.2 accepts MADV_WIPEONFORK and does not wipe: a forked child would look like its parent. Needs
# root, debootstrap, the cross compiler and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

for command in aarch64-linux-gnu-gcc debootstrap; do
	command -v $command > /dev/null || sp_skip "no $command"
done

# sp_emulator: prints the path of Debian 13's static qemu, which apt fetches and checks, once.
sp_emulator()
{
	local folder=${SP_ROOTS:-$SP_BUILD/roots}/qemu
	if [[ ! -x $folder/usr/bin/qemu-aarch64 ]]; then
		rm -rf "$folder"
		mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
			"http://deb.debian.org/debian trixie main" > "$folder/apt/sources.list"
		cat > "$folder/apt/apt.conf" <<-CONFIGURATION
			APT::Sandbox::User "";
			Dir::Etc::sourcelist "$folder/apt/sources.list";
			Dir::Etc::sourceparts "-";
			Dir::State::lists "$folder/apt/lists";
			Dir::State::status "/dev/null";
			Dir::Cache "$folder/apt";
		CONFIGURATION
		(
			export APT_CONFIG=$folder/apt/apt.conf
			cd "$folder"
			apt-get -qq update && apt-get -qq download qemu-user
			dpkg-deb --fsys-tarfile qemu-user_*.deb | tar -x ./usr/bin/qemu-aarch64
			rm -r apt qemu-user_*.deb
		) > "$SP_WORK/qemu.txt" 2>&1
	fi
	echo "$folder/usr/bin/qemu-aarch64"
}

qemu=$(sp_emulator) || sp_skip "no qemu of Debian 13: $(tail -n 1 qemu.txt)"
binfmt=/proc/sys/fs/binfmt_misc
[[ -e $binfmt/register ]] || mount -t binfmt_misc binfmt_misc $binfmt 2> mount.txt ||
	sp_skip "no binfmt_misc: $(cat mount.txt)"
# The kernel asks the last entry first: this one comes before the machine's.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf %s ":stageprof-aarch64:M::$magic:$mask:$qemu:F" > $binfmt/register ||
	sp_skip "no registration with binfmt_misc"
trap 'echo -1 > $binfmt/stageprof-aarch64' EXIT
sp_can_enter
wheel=$(sp_package wheel aarch64)
bytes=$(stat -c %s "$wheel")
((bytes < 2000000)) || sp_fail "the wheel has $bytes bytes: 2 MB are the most"
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall("unpacked")' "$wheel"
mv unpacked/*.data data
python3 -B "$SP_ROOT/tests/builds/glibc_floor.py" 2.17 data/data/lib/libstageprof.so \
	data/data/lib/stageprof/unwinder.so
python3 -B "$SP_ROOT/tests/builds/glibc_floor.py" 2.28 data/scripts/*
readelf -h data/data/lib/libstageprof.so | grep -q AArch64 || sp_fail "not for aarch64"
sp_root bookworm arm64 python3-h5py
cp "$SP_ROOT/tests/host/packaging/used.sh" .
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
install -D -m 755 -t /usr/local/bin /mnt/data/scripts/*
install -D -m 644 -t /usr/local/lib /mnt/data/data/lib/*.so
install -D -m 644 -t /usr/local/lib/stageprof /mnt/data/data/lib/stageprof/*.so
ldconfig
bash /mnt/used.sh
cd /tmp
stageprof run --quiet --output=decode.zst -- python3 /mnt/decode.py
stageprof-report stages --format=json decode.zst > /mnt/stages.json
stageprof-report summary --lang=en decode.zst > /mnt/here.txt
cp -r decode.zst /mnt/
COMMANDS
sp_enter "$root" bash /mnt/inside.sh > inside.txt 2>&1 || sp_fail "$(cat inside.txt)"
python3 - <<'PROGRAM'
import json

stages = {row["stage"]: row["calls"] for row in json.load(open("stages.json"))["stages"]}
assert stages["jpeg_decode"] == 5, stages
assert stages["hdf5_read"] == 3, stages
PROGRAM
# The program of the other architecture reports the same about this trace.
sp_package wheel "$(uname -m)" > /dev/null
native=$SP_ROOT/build/package/wheel-$(uname -m).tree/bin/stageprof-report
"$native" summary --lang=en decode.zst > there.txt
cmp here.txt there.txt || sp_fail "$(diff here.txt there.txt)"
sp_tried "$root" "the programs and the library of the aarch64 wheel; images and HDF5" " arm64 under qemu-user"
