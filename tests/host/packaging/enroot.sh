# SPDX-License-Identifier: Apache-2.0
# A real enroot runs an image of Debian 12 with the tree mounted into it, read-only, as
# docs/INSTALL.md says. STAGEPROF_TEST_ENROOT names the program, which is no package of Debian.
# Needs root, debootstrap, squashfs-tools and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

enroot=${sp_enroot:-}
[[ -x $enroot ]] || sp_skip "no enroot: name the program by STAGEPROF_TEST_ENROOT"
command -v mksquashfs > /dev/null || sp_skip "no squashfs-tools"
tree=$(sp_package tree)
tar --extract --file="$tree"
sp_root bookworm
cp "$SP_ROOT/tests/host/packaging/used.sh" .
PATH=$(dirname "$enroot"):$PATH
mkdir run conf cache store
export ENROOT_RUNTIME_PATH=$SP_WORK/run ENROOT_CONFIG_PATH=$SP_WORK/conf
export ENROOT_CACHE_PATH=$SP_WORK/cache ENROOT_DATA_PATH=$SP_WORK/store
mksquashfs "$root" image.sqsh -comp gzip -no-progress -e proc sys dev > squash.txt 2>&1 ||
	sp_fail "mksquashfs: $(tail -n 3 squash.txt)"
enroot create --name image image.sqsh > create.txt 2>&1 || sp_fail "$(tail -n 3 create.txt)"
start=(enroot start --mount "$SP_WORK/opt/stageprof:/opt/stageprof:none:x-create=dir,bind,ro"
	--mount "$SP_WORK:/mnt")
# The words of docs/INSTALL.md: the library by --env.
"${start[@]}" --env LD_PRELOAD=/opt/stageprof/lib/libstageprof.so \
	--env STAGEPROF_OUTPUT=/mnt/env.zst image sh -c 'cd /mnt && python3 train.py' \
	> env.txt 2>&1 || sp_fail "--env: $(cat env.txt)"
"${start[@]}" image sh -c 'cd /mnt && /opt/stageprof/bin/stageprof run --quiet -- python3 train.py
	! touch /opt/stageprof/new 2> /dev/null
	cat /etc/os-release > os.txt' > run.txt 2>&1 || sp_fail "$(cat run.txt)"
"${start[@]}" --env LD_LIBRARY_PATH=/opt/stageprof/lib image bash -c \
	'PATH=/opt/stageprof/bin:$PATH bash /mnt/used.sh' > used.txt 2>&1 || sp_fail "$(cat used.txt)"
for run in env run; do
	opt/stageprof/bin/stageprof-report files --format=json $run.zst > $run.json
	grep -q '/data.bin",.*"reads":100,' $run.json || sp_fail "$run: $(cat $run.json)"
done
grep -q '^VERSION_ID="12"' os.txt || sp_fail "not the image: $(cat os.txt)"
rm -rf store image.sqsh
sp_tried "$root" "the tree mounted into an image by enroot $("$enroot" version)"
