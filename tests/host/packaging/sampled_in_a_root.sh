# SPDX-License-Identifier: Apache-2.0
# stageprof run --sample of Debian's own Pythons, linked statically and stripped: 3.9 (Debian 11),
# 3.11 (12), 3.13 (13) and 3.14 (sid), by the wheel's programs. Needs root, debootstrap and the
# network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

sp_can_enter
wheel=$(sp_package wheel "$(uname -m)")
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall("unpacked")' "$wheel"
mv unpacked/*.data data
cat > functions.py <<'PROGRAM'
import time

def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def long_one():
    spin(0.3)

def short_one():
    spin(0.1)

for _ in range(4):
    long_one()
    short_one()
PROGRAM
cat > check.py <<'PROGRAM'
import json
import sys

report = json.load(open("/tmp/functions.json"))
rows = {row["function"]: row for row in report["functions"]}
total = {name: rows[name]["total_ns"] for name in ("long_one", "short_one")}
share = total["long_one"] / sum(total.values())
assert abs(share - 0.75) < 0.1, (share, report["sampler"])
assert (rows["long_one"]["line"], rows["short_one"]["line"]) == (8, 11), rows
print("Python %s: %.1f%% of 75%%" % (sys.version.split()[0], 100 * share))
PROGRAM
cat > inside.sh <<'COMMANDS'
set -eu
export PATH=/mnt/data/scripts:$PATH
chmod +x /mnt/data/scripts/*
stageprof run --quiet --sample=500 --library=/mnt/data/data/lib/libstageprof.so \
	--output=/tmp/run.zst -- python3 /mnt/functions.py
stageprof-report functions --format=json /tmp/run.zst > /tmp/functions.json
python3 /mnt/check.py
COMMANDS
for release in bullseye bookworm trixie sid; do
	sp_root $release
	sp_enter "$root" bash /mnt/inside.sh > $release.out 2>&1 || sp_fail "$release: $(cat $release.out)"
	cat $release.out
	sp_tried "$root" "the wheel's programs: functions of the system's own Python by \`run --sample\`"
done
