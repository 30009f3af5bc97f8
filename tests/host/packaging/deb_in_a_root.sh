# SPDX-License-Identifier: Apache-2.0
# The Debian package in a clean root file system of Debian 12: apt installs it with what it
# depends on, and it is used and removed. Needs root, debootstrap and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

sp_can_enter
sp_package deb > /dev/null
cp "$SP_ROOT/tests/host/packaging/used.sh" .
cat > inside.sh <<'COMMANDS'
set -euo pipefail
cd /mnt
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq "./$1"
bash used.sh
stageprof doctor -- python3 -c 1 > doctor.txt
grep -q "^ok    stacks" doctor.txt
apt-get purge -y -qq stageprof
[[ ! -e /usr/bin/stageprof ]]
COMMANDS
sp_root bookworm
sp_enter "$root" bash /mnt/inside.sh "$(echo stageprof_*.deb)" > inside.txt 2>&1 ||
	sp_fail "$(tail -n 40 inside.txt)"
sp_tried "$root" "the Debian package by apt, with what it depends on"
