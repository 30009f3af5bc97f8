# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts/demo and scripts/test: Debian packages from packages.txt.

# Prints the packages of packages.txt that are needed for NEED and are not installed: "build";
# "test" and "package", which include build; "nightly", which includes all.
sp_packages_missing()
{
	local need=$1 for package rest
	while read -r for package rest; do
		[[ $for == build || $for == "$need" || $need-$for == nightly-@(test|package) ]] ||
			continue
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || echo "$package"
	done < "$SP_ROOT/scripts/packages.txt"
}

# Installs the missing packages for NEED. Without root it prints the command and exits with 1.
sp_packages_install()
{
	local need=$1 missing
	if ! command -v dpkg-query >/dev/null; then
		echo "not a Debian system: taking the packages of scripts/packages.txt as installed" >&2
		return
	fi
	mapfile -t missing < <(sp_packages_missing "$need")
	[[ ${#missing[@]} -gt 0 ]] || return 0
	if [[ $(id -u) -ne 0 ]]; then
		echo "missing Debian packages; as root, give" >&2
		echo "    apt-get update &&" \
			"apt-get install --no-install-recommends ${missing[*]}" >&2
		exit 1
	fi
	echo "installing Debian packages: ${missing[*]}" >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get -o DPkg::Lock::Timeout=300 update -qq >&2
	apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends \
		"${missing[@]}" >&2
}
