# SPDX-License-Identifier: Apache-2.0
# The two commands of docs/INSTALL.md that make every package, in a clean root file system of Debian
# 12, as they stand there: no package of Debian's but those that they name. Each package is then
# used: the wheel by pip, the Debian package by apt, the tree where it is unpacked; the wheel for
# the other architecture and the rpm are looked at. Needs root, debootstrap and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

sp_can_enter
git -C "$SP_ROOT" rev-parse --git-dir > /dev/null 2>&1 || sp_skip "no git checkout"
git clone --quiet --no-hardlinks "$SP_ROOT" clone
awk '/^## / { inside = $0 == "## Every package at once" } inside && /^    / { print substr($0, 5) }' \
	"$SP_ROOT/docs/INSTALL.md" > commands.txt
[[ $(wc -l < commands.txt) -eq 2 ]] || sp_fail "not two commands: $(cat commands.txt)"
grep -qx "scripts/package all" commands.txt || sp_fail "no scripts/package all"
cp "$SP_ROOT/tests/host/packaging/used.sh" .
cat > inside.sh <<'COMMANDS'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
cp -r /mnt/clone /root/stageprof
cd /root/stageprof
while IFS= read -r command; do
	eval "$command" < /dev/null
done < /mnt/commands.txt
cd build/dist
ls -l
for file in stageprof-*manylinux_2_17_{x86_64,aarch64}.whl stageprof_*.deb stageprof-dbgsym_*.deb \
	stageprof-*.rpm stageprof-*-linux-x86_64.tar.gz stageprof-[0-9].[0-9].[0-9].tar.gz; do
	[[ -s $file ]] || { echo "no $file"; exit 1; }
done
rpm -qpl stageprof-*.rpm | grep -qx /usr/bin/stageprof
python3 -c 'import glob, zipfile
wheel = zipfile.ZipFile(glob.glob("*aarch64.whl")[0])
library = next(name for name in wheel.namelist() if name.endswith("/libstageprof.so"))
assert wheel.read(library)[18] == 183' # EM_AARCH64
python3 -m venv /root/environment
/root/environment/bin/pip install --quiet --no-index stageprof-*x86_64.whl
(export PATH=/root/environment/bin:$PATH LD_LIBRARY_PATH=/root/environment/lib && bash /mnt/used.sh)
tar --extract --directory=/ --file="$(echo stageprof-*-linux-x86_64.tar.gz)"
(export PATH=/opt/stageprof/bin:$PATH LD_LIBRARY_PATH=/opt/stageprof/lib && bash /mnt/used.sh)
apt-get install -y -qq ./stageprof_*.deb
bash /mnt/used.sh
COMMANDS
sp_root bookworm
sp_enter "$root" bash /mnt/inside.sh > inside.txt 2>&1 || sp_fail "$(tail -n 40 inside.txt)"
! grep "is without" inside.txt || sp_fail "a package that docs/INSTALL.md does not name is missing"
sp_tried "$root" "\`scripts/package all\`; the wheel by pip, the tree, the Debian package by apt"
