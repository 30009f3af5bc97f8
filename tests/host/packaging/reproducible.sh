# SPDX-License-Identifier: Apache-2.0
# Two clones of one commit, in two folders: each package has the same bytes.
. "$(dirname "$0")/package.sh"

git -C "$SP_ROOT" rev-parse --git-dir > /dev/null 2>&1 || sp_skip "no git checkout"
kinds=(tarball tree)
command -v dpkg-shlibdeps > /dev/null && kinds+=(deb)
command -v rpmbuild > /dev/null && kinds+=(rpm)
for folder in one a_folder_with_a_longer_name; do
	git clone --quiet --no-hardlinks "$SP_ROOT" $folder
	"$folder/scripts/package" wheel "$(uname -m)" > /dev/null
	for kind in "${kinds[@]}"; do
		"$folder/scripts/package" "$kind" > /dev/null
	done
	(cd $folder/build/dist && sha256sum -- *) > $folder.txt
done
[[ $(grep -c . one.txt) -ge $((1 + ${#kinds[@]})) ]] || sp_fail "packages are missing: $(cat one.txt)"
diff one.txt a_folder_with_a_longer_name.txt || sp_fail "the folder is in the packages"
cat one.txt
