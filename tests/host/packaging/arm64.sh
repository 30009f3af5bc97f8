# SPDX-License-Identifier: Apache-2.0
# Sourced after roots.sh: a root file system of Debian 12 for arm64, whose programs the kernel runs
# by qemu-user. The emulator is Debian 13's qemu 10, because qemu 7.2 accepts MADV_WIPEONFORK and
# does not wipe: a forked child would look like its parent. Needs debootstrap, the cross compiler
# and the network.

for command in aarch64-linux-gnu-gcc debootstrap; do
	command -v $command > /dev/null || sp_skip "no $command"
done

qemu=$(sp_from_debian_13 qemu-user usr/bin/qemu-aarch64 2> qemu.txt) || sp_skip "no qemu of Debian 13: $(tail -n 1 qemu.txt)"
binfmt=/proc/sys/fs/binfmt_misc
[[ -e $binfmt/register ]] || mount -t binfmt_misc binfmt_misc $binfmt 2> mount.txt ||
	sp_skip "no binfmt_misc: $(cat mount.txt)"
# The kernel asks the last entry first: this one comes before the machine's.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf %s ":stageprof-aarch64-$$:M::$magic:$mask:$qemu:F" > $binfmt/register ||
	sp_skip "no registration with binfmt_misc"
trap 'echo -1 > $binfmt/stageprof-aarch64-$$' EXIT
sp_can_enter
sp_root bookworm arm64 python3-h5py,zstd,binutils,libc6-dev,libjpeg-dev
sp_arm64=$root

# sp_same_reports RUN...: the programs of both architectures report the same bytes about each run.
sp_same_reports()
{
	local views exporters run native
	views=$(sed -nE 's/^SP_VIEW(_BY)?\(([a-z_]*),.*/\2/p' "$SP_ROOT/analyzer/views/views.def" |
		grep -vx html | tr '\n' ' ')
	exporters=$(sed -n 's/^SP_EXPORTER(\([a-z_]*\),.*/\1/p' \
		"$SP_ROOT/analyzer/exporters/exporters.def" | tr '\n' ' ')
	sp_package wheel "$(uname -m)" > /dev/null
	native=$SP_ROOT/build/package/wheel-$(uname -m).tree/bin/stageprof-report
	cp "$SP_ROOT/tests/host/packaging/read_run.sh" .
	for run in "$@"; do
		bash read_run.sh "$native" "native/$run" "$views" "$exporters"
		echo 'cd /mnt && bash read_run.sh data/scripts/stageprof-report "$@"' > inside.sh
		sp_enter "$sp_arm64" bash /mnt/inside.sh "arm64/$run" "$views" "$exporters"
		diff --recursive --brief native arm64 > differ.txt || sp_fail "$(cat differ.txt)"
		[[ $(grep -l '^status 0$' "native/$run"/*.txt | wc -l) -ge 80 ]] ||
			sp_fail "few reports: $(grep -v '^status 0$' "native/$run"/*.txt)"
	done
}
