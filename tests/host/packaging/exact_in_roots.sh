# SPDX-License-Identifier: Apache-2.0
# The library of the wheel on Debian 11 (glibc 2.31), 12 and 13 (2.41): the victims' own counts, and
# kills at random instants, with victims that are built for each system's libc. Needs root,
# debootstrap and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"
. "$(dirname "$0")/victims.sh"

sp_can_enter
sp_unpack "$(uname -m)"
export STAGEPROF_TEST_REPEATS=10 STAGEPROF_TEST_KILLS=300
for release in bullseye bookworm trixie; do
	sp_root $release "$(dpkg --print-architecture)" zstd,libc6-dev,libjpeg-dev
	echo "$release"
	sp_exact "$root" gcc exact/counting exact/threads exact/processes exact/decode:Native \
		exact/kills
	sp_tried "$root" "exact counts of C programs; forks, execs, signals, kills at random instants"
done
