# SPDX-License-Identifier: Apache-2.0
# The programs and the library of the wheel in root file systems of Ubuntu 16.04 (glibc 2.23), 18.04
# (2.27), 20.04 (2.31) and 22.04 (2.35), with the Python of each. Needs root, debootstrap and the
# network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"
. "$(dirname "$0")/victims.sh"

sp_can_enter
sp_unpack "$(uname -m)"
for release in xenial bionic focal jammy; do
	sp_root $release
	sp_enter "$root" bash -euc 'bash /mnt/into_usr_local.sh; bash /mnt/used.sh' \
		> $release.out 2>&1 || sp_fail "$release: $(cat $release.out)"
	sp_tried "$root" "the programs and the library of the wheel"
	echo "$release: $(sp_enter "$root" ldd --version | sed -n 1p)"
done
