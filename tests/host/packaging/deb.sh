# SPDX-License-Identifier: Apache-2.0
# The Debian package: installed by dpkg into a private copy of this system, used, and purged without
# a rest. lintian finds no error.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

command -v dpkg-shlibdeps > /dev/null || sp_skip "no dpkg-dev"
sp_can_enter
sp_package deb > /dev/null
package=$(echo stageprof_*.deb) symbols=$(echo stageprof-dbgsym_*.deb)
triplet=$(gcc -print-multiarch)
dpkg-deb --contents "$package" | awk '{ print $6 }' > contents.txt
for file in usr/bin/stageprof usr/bin/stageprof-report "usr/lib/$triplet/libstageprof.so" \
	usr/share/man/man1/stageprof.1.gz usr/share/man/man1/stageprof-report.1.gz \
	usr/share/bash-completion/completions/stageprof \
	usr/share/zsh/vendor-completions/_stageprof \
	usr/share/fish/vendor_completions.d/stageprof.fish \
	usr/share/doc/stageprof/{copyright,changelog.gz,NOTICES.md,docs/REFERENCE.md}; do
	grep -qx "./$file" contents.txt || sp_fail "the package has no $file"
done
dpkg-deb --fsys-tarfile "$package" | tar -xO "./usr/lib/$triplet/libstageprof.so" > library.so
python3 -B "$SP_ROOT/tests/builds/glibc_floor.py" library library.so
if command -v lintian > /dev/null; then
	# The three tags find fault with the address of the maintainer, whom a clone cannot know.
	lintian --allow-root --fail-on error --suppress-tags \
		bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact \
		"$package" "$symbols" > lintian.txt 2>&1 || sp_fail "lintian: $(cat lintian.txt)"
fi

cp "$SP_ROOT/tests/host/packaging/used.sh" .
cat > inside.sh <<'COMMANDS'
set -euo pipefail
cd /mnt
files()
{
	find /etc /usr /var/lib/dpkg/info -not -type d -not -name '*.pyc' | sort
}
rm -f /usr/share/man/index.db
files > before.txt
dpkg --no-triggers --install "$1" "$2" > dpkg.txt
ldconfig
build_id=$(readelf -n /usr/bin/stageprof-report | sed -n 's/.*Build ID: //p')
[[ -e /usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug ]]
bash used.sh
dpkg --no-triggers --purge stageprof-dbgsym stageprof > dpkg.txt
ldconfig
files > after.txt
diff before.txt after.txt
COMMANDS
PATH=/usr/sbin:/usr/bin:/sbin:/bin sp_enter / bash /mnt/inside.sh "$package" "$symbols" \
	> inside.txt 2>&1 || sp_fail "$(cat inside.txt)"
sp_tried / "the Debian package by dpkg, in a private copy of the system: installed, used, purged"
