# SPDX-License-Identifier: Apache-2.0
# The rpm: its contents and what it needs, installed by rpm into a private copy of this system,
# used, and removed. The same sources make the same bytes.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

command -v rpmbuild > /dev/null || sp_skip "no rpmbuild"
sp_can_enter
package=$(sp_package rpm)
again=$(STAGEPROF_DIST=$SP_WORK/again "$SP_ROOT/scripts/package" rpm)
cmp "$package" "$again" || sp_fail "the same sources made other bytes"
rpm -qpl "$package" > contents.txt
for file in /usr/bin/stageprof /usr/bin/stageprof-report /usr/lib64/libstageprof.so \
	/usr/share/man/man1/stageprof.1.gz /usr/share/zsh/site-functions/_stageprof \
	/usr/share/doc/stageprof/LICENSE; do
	grep -qx "$file" contents.txt || sp_fail "the package has no $file"
done
rpm -qp --requires "$package" > requires.txt
old='GLIBC_2\.([0-9]|1[0-7])(\.[0-9]+)?$'
if grep -oE 'GLIBC_[0-9.]+' requires.txt | grep -vE "$old"; then
	sp_fail "it needs a newer glibc than 2.17"
fi
if command -v rpmlint > /dev/null; then
	rpmlint "$package" > rpmlint.txt || sp_fail "rpmlint: $(cat rpmlint.txt)"
fi
cp "$SP_ROOT/tests/host/packaging/used.sh" .
cat > inside.sh <<'COMMANDS'
set -euo pipefail
cd /mnt
echo /usr/lib64 > /etc/ld.so.conf.d/rpm.conf
rpm --install --nodeps "$1"
ldconfig
bash used.sh
rpm --erase stageprof
[[ ! -e /usr/bin/stageprof && ! -e /usr/lib64/libstageprof.so && ! -e /usr/share/doc/stageprof ]]
COMMANDS
PATH=/usr/sbin:/usr/bin:/sbin:/bin sp_enter / bash /mnt/inside.sh "${package##*/}" \
	> inside.txt 2>&1 || sp_fail "$(cat inside.txt)"
sp_tried / "the rpm by rpm, in a private copy of the system: installed, used, removed"
