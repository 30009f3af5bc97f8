# SPDX-License-Identifier: Apache-2.0
# Two clones of one commit, in two folders, built one after the other: every package has the same
# bytes.
. "$(dirname "$0")/package.sh"

git -C "$SP_ROOT" rev-parse --git-dir > /dev/null 2>&1 || sp_skip "no git checkout"
command -v dpkg-shlibdeps > /dev/null || sp_skip "no dpkg-dev"
command -v rpmbuild > /dev/null || sp_skip "no rpmbuild"
command -v aarch64-linux-gnu-gcc > /dev/null || sp_skip "no cross compiler"
export CCACHE_DISABLE=1 # an object of the first folder would stand in for one of the second
git clone --quiet --no-hardlinks "$SP_ROOT" one
git clone --quiet --no-hardlinks one a_folder_with_a_longer_name
for folder in one a_folder_with_a_longer_name; do
	"$folder/scripts/package" all > /dev/null
	(cd $folder/build/dist && sha256sum -- *) > $folder.txt
	rm -rf $folder/build/package
done
# Two wheels, a Debian package and its symbols, an rpm, the tree, the sources.
[[ $(grep -c . one.txt) -eq 7 ]] || sp_fail "not every package: $(cat one.txt)"
diff one.txt a_folder_with_a_longer_name.txt || sp_fail "the folder is in the packages"
cat one.txt
sp_tried / "\`scripts/package all\` in two folders: the same bytes"
