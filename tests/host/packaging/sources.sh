# SPDX-License-Identifier: Apache-2.0
# The tarball of the sources is built, installed and used in a clean root file system of Debian 12
# that has the packages of the README but dygraphs, which is in the tarball, and no network from
# then on. Needs root, debootstrap and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

sp_can_enter
unshare --net true 2> enter.txt || sp_skip "no network of its own: $(cat enter.txt)"
tarball=$(sp_package tarball)
cp "$SP_ROOT/tests/host/packaging/used.sh" .
cat > inside.sh <<'COMMANDS'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
tar --extract --directory=/root --file="/mnt/$1"
cd /root/stageprof-*
apt-get update -qq
apt-get install -y -qq --no-install-recommends \
	$(awk '$1 == "build" && $2 != "libjs-dygraphs" { print $2 }' scripts/packages.txt)
[[ ! -e /usr/share/javascript/dygraphs ]]
unshare --net bash -euo pipefail -c '
	! timeout 20 apt-get -o Acquire::Retries=0 download hello 2> /dev/null
	cmake --preset release
	cmake --build --preset release -j 2
	cmake --install build/release && ldconfig
	[[ $(command -v stageprof) == /usr/local/bin/stageprof ]]
	bash /mnt/used.sh'
COMMANDS
sp_root bookworm
sp_enter "$root" bash /mnt/inside.sh "${tarball##*/}" > inside.txt 2>&1 ||
	sp_fail "$(tail -n 40 inside.txt)"
sp_tried "$root" "the tarball of the sources, built without a network"
