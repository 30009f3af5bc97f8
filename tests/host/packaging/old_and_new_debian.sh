# SPDX-License-Identifier: Apache-2.0
# The wheel's programs and library in root file systems of Debian 11 (glibc 2.31), 12 and 13, with
# each one's own Python: exact counts, doctor, a fork that is killed. Needs root, debootstrap and
# the network.
. "$(dirname "$0")/package.sh"

[[ $(id -u) -eq 0 ]] || sp_skip "needs root"
command -v debootstrap > /dev/null || sp_skip "no debootstrap"
wheel=$(sp_package wheel)
roots=${STAGEPROF_ROOTS:-$SP_BUILD/roots}
mkdir -p "$roots"

# Runs in a root, with its own processes and /proc.
enter()
{
	local root=$1
	shift
	unshare --mount --pid --fork --kill-child bash -c 'mount -t proc proc "$0/proc"
		mount --rbind /dev "$0/dev"; exec chroot "$0" "$@"' "$root" "$@"
}

cat > inside.sh <<'COMMANDS'
set -eu
cd /tmp
rm -rf ./*.zst
stageprof run --quiet -- python3 /usr/local/share/victim.py
stageprof-report files --format=json run.zst > files.json
python3 - <<'PROGRAM'
import json

rows = json.load(open("files.json"))["files"]
data = [row for row in rows if "data.bin" in json.dumps(row)]
assert len(data) == 1 and 150000 in data[0].values() and 150 in data[0].values(), data
PROGRAM
stageprof doctor -- python3 -c 1
# A program without threads and without libdl, which before glibc 2.34 has neither library.
STAGEPROF_CHILDREN=all STAGEPROF_OUTPUT=cat.zst LD_PRELOAD=libstageprof.so \
	cat /tmp/data.bin > /dev/null
stageprof-report stages cat.zst | grep -q 'file'
COMMANDS
cat > victim.py <<'PROGRAM'
import os
import signal

os.chdir("/tmp")
with open("data.bin", "wb") as file:
    file.write(bytes(100000))
with open("data.bin", "rb", buffering=0) as file:
    for _ in range(100):
        file.read(1000)
child = os.fork()
if child == 0:
    with open("data.bin", "rb", buffering=0) as file:
        for _ in range(50):
            file.read(1000)
        os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(child, 0)
PROGRAM
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall("unpacked")' "$wheel"
for release in bullseye bookworm trixie; do
	root=$roots/$release
	if [[ ! -e $root/whole ]]; then
		rm -rf "$root"
		debootstrap --variant=minbase --include=python3,python3-pil "$release" \
			"$root" \
			http://deb.debian.org/debian > "$release.log" 2>&1 ||
			sp_skip "debootstrap: $(tail -n 1 "$release.log")"
		touch "$root/whole"
	fi
	install -D -m 755 -t "$root/usr/local/bin" unpacked/*.data/scripts/*
	install -D -m 644 -t "$root/usr/local/lib" unpacked/*.data/data/lib/*.so
	install -D -m 644 -t "$root/usr/local/share" victim.py inside.sh
	enter "$root" /sbin/ldconfig
	enter "$root" bash /usr/local/share/inside.sh > "$release.out" 2>&1 ||
		sp_fail "$release: $(cat "$release.out")"
	echo "$release: $(enter "$root" ldd --version | sed -n 1p)"
done
