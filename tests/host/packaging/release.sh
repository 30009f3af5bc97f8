# SPDX-License-Identifier: Apache-2.0
# scripts/release in a clone, without an upload: version, changelog, tag, and each package of this
# machine's architecture; the sources are packed twice to the same bytes. Needs the network.
. "$(dirname "$0")/package.sh"

git -C "$SP_ROOT" rev-parse --git-dir > /dev/null 2>&1 || sp_skip "no git checkout"
command -v dpkg-source > /dev/null || sp_skip "no dpkg-dev"
python3 -m venv --without-pip probe 2> /dev/null || sp_skip "no python3-venv"
git clone --quiet --no-hardlinks "$SP_ROOT" clone
version=$(sed -n 's/^project(stageprof VERSION \([0-9.]*\).*/\1/p' clone/CMakeLists.txt)
export STAGEPROF_PACKAGE=$SP_ROOT/scripts/package # which has compiled already
machine=$(uname -m)

refused()
{
	local reason=$1
	shift
	! clone/scripts/release "$@" > refused.txt 2>&1 || sp_fail "no refusal: $reason"
	grep -q "^scripts/release: .*$reason" refused.txt || sp_fail "$(cat refused.txt)"
}
refused "give a version" 1.0
refused "all architectures" "$version" "$machine"
touch clone/new
refused "commit or remove" "$version"
rm clone/new
git -C clone tag "v$version"
refused "the tag v$version is there" "$version"
git -C clone tag --delete "v$version" > /dev/null

clone/scripts/release --dry-run "$version" "$machine" > release.txt 2>&1 ||
	sp_fail "$(tail -n 30 release.txt)"
[[ -z $(git -C clone tag) ]] || sp_fail "a dry run tagged the clone"
made=$SP_WORK/clone/build/release-$version
[[ $(git -C "$made/source" cat-file -t "v$version") == tag ]] || sp_fail "no tag"
git -C "$made/source" show "v$version:CHANGELOG.md" | grep -A2 '^## \[Unreleased\]$' |
	grep -q "^## \[$version\] - $(date --utc +%Y)" || sp_fail "no section of the changelog"
grep -q '^### Added$' "$made/notes.md" || sp_fail "notes: $(cat "$made/notes.md")"
for file in "stageprof-$version-py3-none-manylinux_2_17_$machine.whl" "stageprof-$version.tar.gz" \
	"stageprof-$version-linux-$machine.tar.gz" Containerfile "stageprof_$version.orig.tar.gz" \
	"stageprof_$version-1.debian.tar.xz" "stageprof_$version-1.dsc"; do
	[[ -s $made/dist/$file ]] || sp_fail "no $file: $(ls "$made/dist")"
done
(cd "$made/dist" && sha256sum --check --quiet ../SHA256SUMS) || sp_fail "SHA256SUMS"
[[ $(grep -c 'PASSED' release.txt) -eq 2 ]] || sp_fail "twine: $(cat release.txt)"

dpkg-source --extract "$made/dist/stageprof_$version-1.dsc" unpacked > dpkg.txt 2>&1 ||
	sp_fail "$(cat dpkg.txt)"
[[ -x unpacked/debian/rules && -s unpacked/PKG-INFO && -s unpacked/pyproject.toml ]] ||
	sp_fail "the sources lack a file"
before=$(sha256sum < "$made/dist/stageprof_$version-1.debian.tar.xz")
STAGEPROF_DIST=$made/dist "$SP_ROOT/scripts/package" source > /dev/null
[[ $before == "$(sha256sum < "$made/dist/stageprof_$version-1.debian.tar.xz")" ]] ||
	sp_fail "the same sources made other bytes"
sp_tried / "a dry run of \`scripts/release\`: version, tag, wheel, sdist, tree, Debian's sources"
