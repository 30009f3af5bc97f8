# SPDX-License-Identifier: Apache-2.0
# The wheel's programs and library in root file systems of Debian 11 (glibc 2.31), 12 and 13, with
# each one's own Python. Needs root, debootstrap and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

sp_can_enter
wheel=$(sp_package wheel "$(uname -m)")
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall("unpacked")' "$wheel"
mv unpacked/*.data data
cp "$SP_ROOT/tests/host/packaging/used.sh" .
for release in bullseye bookworm trixie; do
	sp_root $release
	sp_enter "$root" bash -euc 'install -D -m 755 -t /usr/local/bin /mnt/data/scripts/*
		install -D -m 644 -t /usr/local/lib /mnt/data/data/lib/*.so
		install -D -m 644 -t /usr/local/lib/stageprof /mnt/data/data/lib/stageprof/*.so
		ldconfig
		bash /mnt/used.sh' > $release.out 2>&1 || sp_fail "$release: $(cat $release.out)"
	sp_tried "$root" "the programs and the library of the wheel"
	echo "$release: $(sp_enter "$root" ldd --version | sed -n 1p)"
done
