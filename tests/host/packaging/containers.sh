# SPDX-License-Identifier: Apache-2.0
# The recipes for containers, as far as a machine without a registry goes: the image is built, and
# its files are used by COPY --from, by a read-only bind mount as Apptainer and enroot do it, and as
# the Kubernetes job describes it, whose form its schema checks. Needs root, buildah, a static
# busybox, and the network.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

command -v buildah > /dev/null || sp_skip "no buildah"
shell=/bin/busybox
file -L $shell 2> /dev/null | grep -q 'statically linked' || sp_skip "no busybox-static"
sp_can_enter
sp_package tree > /dev/null
recipes=$SP_ROOT/packaging/containers
cp "$recipes/Containerfile" .

# In place of the registry's busybox: the same program, for the same Containerfile.
store=(--root "$SP_WORK/store/root" --runroot "$SP_WORK/store/run" --storage-driver vfs)
base=$(buildah "${store[@]}" from scratch)
mkdir shell
cp $shell shell/busybox
ln -s busybox shell/sh
ln -s busybox shell/cp
buildah "${store[@]}" copy --quiet "$base" shell /bin > /dev/null
buildah "${store[@]}" commit --quiet "$base" localhost/busybox > /dev/null
buildah "${store[@]}" bud --quiet --isolation chroot --build-arg BASE=localhost/busybox \
	--tag stageprof . > bud.txt 2>&1 || sp_fail "buildah: $(cat bud.txt)"
image=$(buildah "${store[@]}" mount "$(buildah "${store[@]}" from stageprof)")
[[ -x $image/opt/stageprof/bin/stageprof ]] || sp_fail "the image has no stageprof"
mkdir image
cp -a "$image/." image/
buildah "${store[@]}" umount --all > /dev/null
buildah "${store[@]}" rm --all > /dev/null
rm -r store

cp "$SP_ROOT/tests/host/packaging/used.sh" .
cat > copied.sh <<'COMMANDS'
set -euo pipefail
cp -a /mnt/image/opt/stageprof /opt/stageprof
export PATH=/opt/stageprof/bin:/usr/bin:/bin LD_LIBRARY_PATH=/opt/stageprof/lib
bash /mnt/used.sh
COMMANDS
cat > bound.sh <<'COMMANDS'
set -euo pipefail
mkdir /opt/stageprof
mount --bind -o ro /mnt/image/opt/stageprof /opt/stageprof
! touch /opt/stageprof/bin/new 2> /dev/null
cd /mnt
LD_PRELOAD=/opt/stageprof/lib/libstageprof.so STAGEPROF_OUTPUT=/mnt/bound.zst python3 train.py
/opt/stageprof/bin/stageprof-report files --format=json bound.zst > bound.json
grep -q '/data.bin",.*"reads":100,' bound.json
COMMANDS
for way in copied bound; do
	PATH=/usr/sbin:/usr/bin:/sbin:/bin sp_enter / bash /mnt/$way.sh > $way.txt 2>&1 ||
		sp_fail "$way: $(cat $way.txt)"
done

# The job: its form, then its two containers by hand, with the volumes where it mounts them.
python3 -m venv tools 2> /dev/null || sp_skip "no python3-venv"
tools/bin/pip install --quiet --disable-pip-version-check kubernetes-validate==1.37.0 \
	2> pip.txt || sp_skip "pip: $(tail -n 1 pip.txt)"
tools/bin/kubernetes-validate --strict "$recipes/kubernetes.yaml" > kubernetes.txt 2>&1 ||
	sp_fail "the schema: $(cat kubernetes.txt)"
tools/bin/python - "$recipes/kubernetes.yaml" > job.sh <<'PROGRAM'
import shlex
import sys

import yaml

spec = yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]
volumes = {volume["name"] for volume in spec["volumes"]}


def run(container, root):
    print("(")
    for mount in container["volumeMounts"]:
        assert mount["name"] in volumes, mount
        options = "-o ro" if mount.get("readOnly") else ""
        print(f"mkdir -p {root}{mount['mountPath']} /volumes/{mount['name']}")
        print(f"mount --bind {options} /volumes/{mount['name']} {root}{mount['mountPath']}")
    for variable in container.get("env", ()):
        print(f"export {variable['name']}={shlex.quote(variable['value'])}")
    print("cd /mnt;", f"chroot {root}" if root else "", shlex.join(container["command"]))
    print(")")


print("set -euo pipefail; mkdir /volumes; mount -t tmpfs tmpfs /volumes")
for init in spec["initContainers"]:
    run(init, "/mnt/image")
for container in spec["containers"]:
    run(container, "")
print("cp -r /volumes/runs /mnt/")
PROGRAM
PATH=/usr/sbin:/usr/bin:/sbin:/bin sp_enter / bash -e /mnt/job.sh > job.txt 2>&1 ||
	sp_fail "the job: $(cat job.txt job.sh)"
runs=(runs/*.zst)
[[ -d ${runs[0]} && ${#runs[@]} -eq 1 ]] || sp_fail "not one run in the volume: $(ls -R runs)"
image/opt/stageprof/bin/stageprof-report files --format=json "${runs[0]}" > job.json
grep -q '/data.bin",.*"reads":100,' job.json || sp_fail "the job's reads are missing"
sp_tried / "an image by buildah: its tree copied, mounted read-only, and by the volumes of a Kubernetes job"
