# SPDX-License-Identifier: Apache-2.0
# Sourced after package.sh: root file systems of other systems, and of this one.

[[ $(id -u) -eq 0 ]] || sp_skip "needs root"

# sp_from_debian_13 PACKAGE FILE: prints the path of this file of Debian 13's package, which apt
# fetches and checks, once.
sp_from_debian_13()
{
	local package=$1 file=$2 folder=${SP_ROOTS:-$SP_BUILD/roots}/$1
	if [[ ! -e $folder/$file ]]; then
		rm -rf "$folder"
		mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
			"http://deb.debian.org/debian trixie main" > "$folder/apt/sources.list"
		cat > "$folder/apt/apt.conf" <<-CONFIGURATION
			APT::Sandbox::User "";
			Dir::Etc::sourcelist "$folder/apt/sources.list";
			Dir::Etc::sourceparts "-";
			Dir::State::lists "$folder/apt/lists";
			Dir::State::status "/dev/null";
			Dir::Cache "$folder/apt";
		CONFIGURATION
		(
			export APT_CONFIG=$folder/apt/apt.conf
			cd "$folder"
			apt-get -qq update && apt-get -qq download "$package"
			dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x "./$file"
			rm -r apt "$package"_*.deb
		) >&2
	fi
	[[ -e $folder/$file ]] && echo "$folder/$file"
}

# sp_root RELEASE [ARCHITECTURE [PACKAGE,...]]: sets root to a root file system of this Debian or
# Ubuntu with Python, Pillow and the packages. It is made once and kept. Needs debootstrap and the
# network.
sp_root()
{
	local release=$1 architecture=${2:-$(dpkg --print-architecture)}
	local archive=http://deb.debian.org/debian keyring
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	root=${SP_ROOTS:-$SP_BUILD/roots}/$release-$architecture${3+-${3//,/_}}
	[[ ! -e $root/whole ]] || return 0
	command -v debootstrap > /dev/null || sp_skip "no debootstrap"
	case $release in xenial | bionic | focal | jammy)
		archive=http://archive.ubuntu.com/ubuntu
		keyring=$(sp_from_debian_13 ubuntu-keyring \
			usr/share/keyrings/ubuntu-archive-keyring.gpg 2> keyring.txt) ||
			sp_skip "no keyring of Ubuntu: $(tail -n 1 keyring.txt)"
		;;
	esac
	rm -rf "$root"
	mkdir -p "$root"
	debootstrap --variant=minbase --arch="$architecture" --keyring="$keyring" \
		--include="python3,python3-pil${3+,$3}" "$release" "$root" "$archive" \
		> "$release.log" 2>&1 ||
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
