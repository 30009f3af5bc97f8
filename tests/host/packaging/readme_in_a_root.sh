# SPDX-License-Identifier: Apache-2.0
# The commands of the README's section "Installation" in a clean root file system of Debian 12, as
# they stand there: no package but those that they name. Needs root, debootstrap and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

sp_can_enter
mkdir clone
git -C "$SP_ROOT" ls-files -z | (cd "$SP_ROOT" && tar --null -T - -c) | tar -x -C clone
section() { awk '/^## / { inside = $0 == "## Installation" } inside && /^    / { print substr($0, 5) }' "$SP_ROOT/README.md"; }
section > commands.txt
for command in "apt-get install" "scripts/package wheel" "pip install" "cmake --preset release" "cmake --install"; do
	grep -q "^$command" commands.txt || sp_fail "the README has no $command: $(cat commands.txt)"
done
cat > inside.sh <<'COMMANDS'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
cp -r /mnt/clone /root/stageprof
cd /root/stageprof
run() { echo "+ $1"; eval "$1"; }
while IFS= read -r command; do
	if [[ $command == pip* ]]; then # the environment of a trainer
		python3 -m venv /root/trainer
		PATH=/root/trainer/bin:$PATH run "$command"
		(cd /tmp && PATH=/root/trainer/bin:$PATH stageprof --version)
	else
		run "$command" < /dev/null
	fi
done < /mnt/commands.txt
mkdir /root/use
cd /root/use
cp /mnt/train.py /mnt/data.bin .
[[ $(command -v stageprof) == /usr/local/bin/stageprof ]]
stageprof run -q -- python3 train.py
stageprof-report files run.zst | grep -q data.bin
COMMANDS
sp_root bookworm
sp_enter "$root" bash /mnt/inside.sh > inside.txt 2>&1 || sp_fail "$(tail -n 40 inside.txt)"
! grep "is without" inside.txt || sp_fail "a package that the README does not name is missing"
sp_tried "$root" "the commands of the README's section \"Installation\""
