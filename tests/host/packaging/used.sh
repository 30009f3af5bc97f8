# SPDX-License-Identifier: Apache-2.0
# Run in a root where stageprof is installed: exact counts of a program that forks a child that
# kills itself, doctor, a program without threads. /mnt has train.py's folder.
set -eu
folder=$(mktemp -d)
cd "$folder"
cat > victim.py <<'PROGRAM'
import os
import signal

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
os.execvp("python3", ["python3", "-c", "open('data.bin', 'rb', buffering=0).read(1000)"])
PROGRAM
stageprof run --quiet -- python3 victim.py
stageprof-report files --format=json run.zst > files.json
python3 - <<'PROGRAM'
import json

READS = 151
rows = json.load(open("files.json"))["files"]
data = [row for row in rows if row["name"].endswith("/data.bin")]
assert len(data) == 1 and data[0]["reads"] == READS, data
assert 1000 * READS in data[0].values(), data
PROGRAM
if ! stageprof doctor -- python3 -c 1 > doctor.txt 2>&1; then
	cat doctor.txt
	exit 1
fi
# A program without threads and without libdl, which before glibc 2.34 has neither library.
STAGEPROF_CHILDREN=all STAGEPROF_OUTPUT=cat.zst LD_PRELOAD=libstageprof.so \
	cat data.bin > /dev/null
stageprof-report stages cat.zst | grep -q 'file'
cd /
rm -r "$folder"
