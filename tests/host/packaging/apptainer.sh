# SPDX-License-Identifier: Apache-2.0
# A real Apptainer, Debian sid's, in a root file system of sid: it runs an image of Debian 12 with
# the tree bound into it, read-only, as docs/INSTALL.md says. enroot is no package of Debian; its
# bind mount and variables are the same. Needs root, debootstrap and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

sp_can_enter
tree=$(sp_package tree)
tar --extract --file="$tree"
sp_root bookworm
image=$root
cp "$SP_ROOT/tests/host/packaging/used.sh" .
cat > inside.sh <<'COMMANDS'
set -euo pipefail
cd /mnt
export HOME=/root
cp -r opt/stageprof /opt/
# --userns: as for a user who is not root.
exec=(apptainer exec --userns --no-home --bind /opt/stageprof:/opt/stageprof:ro --bind /mnt
	--pwd /mnt)
# The words of docs/INSTALL.md: the library by --env.
"${exec[@]}" --env LD_PRELOAD=/opt/stageprof/lib/libstageprof.so,STAGEPROF_OUTPUT=/mnt/env.zst \
	/mnt/image python3 train.py
"${exec[@]}" /mnt/image /opt/stageprof/bin/stageprof run --quiet --output=run.zst -- \
	python3 train.py
! "${exec[@]}" /mnt/image touch /opt/stageprof/new 2> /dev/null
"${exec[@]}" --env LD_LIBRARY_PATH=/opt/stageprof/lib /mnt/image bash -c \
	 'PATH=/opt/stageprof/bin:$PATH bash used.sh'
for run in env run; do
	/opt/stageprof/bin/stageprof-report files --format=json $run.zst > $run.json
	grep -q '/data.bin",.*"reads":100,' $run.json
done
"${exec[@]}" /mnt/image cat /etc/os-release > os.txt
apptainer --version > version.txt
COMMANDS
sp_root sid "$(dpkg --print-architecture)" apptainer
cp -a "$image" image
sp_enter "$root" bash /mnt/inside.sh > inside.txt 2>&1 || sp_fail "$(tail -n 30 inside.txt)"
grep -q '^VERSION_ID="12"' os.txt || sp_fail "not the image: $(cat os.txt)"
sp_tried "$image" "the tree bound into an image by $(tr -d '\n' < version.txt), of Debian sid"
