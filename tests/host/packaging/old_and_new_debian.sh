# SPDX-License-Identifier: Apache-2.0
# The wheel's programs and library in root file systems of Debian 11 (glibc 2.31), 12 and 13, with
# each one's own Python. Needs root, debootstrap and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"
. "$(dirname "$0")/victims.sh"

sp_can_enter
sp_unpack "$(uname -m)"
for release in bullseye bookworm trixie; do
	sp_root $release
	sp_enter "$root" bash -euc 'bash /mnt/into_usr_local.sh; bash /mnt/used.sh' \
		> $release.out 2>&1 || sp_fail "$release: $(cat $release.out)"
	sp_tried "$root" "the programs and the library of the wheel"
	echo "$release: $(sp_enter "$root" ldd --version | sed -n 1p)"
done
