# SPDX-License-Identifier: Apache-2.0
# Sourced after package.sh: root file systems of other systems, and of this one.

[[ $(id -u) -eq 0 ]] || sp_skip "needs root"

# sp_root RELEASE [ARCHITECTURE [PACKAGE,...]]: sets root to a root file system of this Debian with
# Python, Pillow and the packages. It is made once and kept. Needs debootstrap and the network.
sp_root()
{
	local release=$1 architecture=${2:-$(dpkg --print-architecture)}
	root=${SP_ROOTS:-$SP_BUILD/roots}/$release-$architecture${3+-${3//,/_}}
	[[ ! -e $root/whole ]] || return 0
	command -v debootstrap > /dev/null || sp_skip "no debootstrap"
	rm -rf "$root"
	mkdir -p "$root"
	debootstrap --variant=minbase --arch="$architecture" \
		--include="python3,python3-pil${3+,$3}" "$release" "$root" \
		http://deb.debian.org/debian > "$release.log" 2>&1 ||
		sp_skip "debootstrap: $(tail -n 1 "$release.log")"
	touch "$root/whole"
}

# Runs a command in a root with its own processes, /proc and /dev. Its changes go with it,
# except those below /mnt, which is this folder.
sp_enter()
{
	local root=$1
	shift
	mkdir -p layer
	unshare --mount --pid --fork --kill-child bash -euc '
		unset ${!CMAKE_@} ${!CCACHE_@}
		mount -t tmpfs tmpfs layer
		mkdir layer/upper layer/work layer/root
		mount -t overlay overlay \
			-o "lowerdir=$0,upperdir=layer/upper,workdir=layer/work" layer/root
		mount -t proc proc layer/root/proc
		mount --rbind /dev layer/root/dev
		mount --bind . layer/root/mnt
		[[ ! -e /etc/resolv.conf ]] || cat /etc/resolv.conf > layer/root/etc/resolv.conf
		cd layer/root
		pivot_root . . # and no chroot: Apptainer refuses to run in one
		umount --lazy .
		cd /
		exec "$@"' "$root" "$@"
}

# True where sp_enter works: a container may not allow it.
sp_can_enter()
{
	sp_enter / true 2> enter.txt || sp_skip "no overlay of a root: $(tail -n 1 enter.txt)"
}
