# SPDX-License-Identifier: Apache-2.0
# After cmake --install and ldconfig, the two commands of the README work as they are written there.
# It is a real installation into /usr/local, on a private overlay of it that goes away with this
# test; where there can be none, into a prefix of its own with LD_LIBRARY_PATH in ldconfig's place.
. "$(dirname "$0")/scene.sh"

cat > train.py <<'PROGRAM'
with open("data.bin", "rb", buffering=0) as file:
    print(sum(len(file.read(1000)) for _ in range(100)))
PROGRAM
head -c 100000 /dev/urandom > data.bin
interpreter=$(python3 -c 'import sys; print(sys.executable)')
mkdir -p bin etc.upper etc.work local.upper local.work
ln -s "$interpreter" bin/python

cat > as_installed.sh <<'COMMANDS'
set -euo pipefail
LD_PRELOAD=libstageprof.so python train.py
stageprof-report run.zst > report.txt
stageprof-report files --format=json run.zst > files.json
rm -r run.zst
LD_PRELOAD=$SP_PREFIX/lib/libstageprof.so python train.py
stageprof-report run.zst > absolute.txt
rm -r run.zst
stageprof run -- python train.py 2> next.txt
bash -c "$(grep -x '    stageprof-report run.zst' next.txt)" > launched.txt
stageprof report files --format=json run.zst > launched.json
stageprof doctor -- python train.py > doctor.txt 2> /dev/null
for page in stageprof stageprof-report; do
	[[ -s $SP_PREFIX/share/man/man1/$page.1 ]]
	bash -n "$SP_PREFIX/share/bash-completion/completions/$page"
done
COMMANDS

cat > overlaid.sh <<'COMMANDS'
set -euo pipefail
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$PWD/etc.upper,workdir=$PWD/etc.work" /etc
mount -t overlay overlay \
	-o "lowerdir=/usr/local,upperdir=$PWD/local.upper,workdir=$PWD/local.work" /usr/local
cmake --install "$SP_BUILD" --prefix /usr/local > install.log
ldconfig
SP_PREFIX=/usr/local PATH=$PWD/bin:/usr/local/bin:$PATH bash as_installed.sh
COMMANDS

map=$([[ $(id -u) -eq 0 ]] || echo --map-root-user)
probe="lowerdir=/etc,upperdir=$PWD/etc.upper,workdir=$PWD/etc.work"
if unshare --mount $map mount -t overlay overlay -o "$probe" /etc 2>/dev/null; then
	echo "installing into an overlay of /usr/local"
	ls -l --full-time /usr/local/lib > before.txt
	unshare --mount $map bash overlaid.sh > out 2> err || sp_fail "status $?: $(cat err)"
	[[ -e local.upper/lib/libstageprof.so ]] || sp_fail "no lib/libstageprof.so: $(cat install.log)"
	ls -l --full-time /usr/local/lib > after.txt
	cmp before.txt after.txt || sp_fail "the installation left its overlay"
else
	echo "no overlay to be had; installing into a prefix"
	cmake --install "$SP_BUILD" --prefix "$PWD/prefix" > install.log
	SP_PREFIX=$PWD/prefix LD_LIBRARY_PATH=$PWD/prefix/lib PATH=$PWD/bin:$PWD/prefix/bin:$PATH \
		bash as_installed.sh > out 2> err || sp_fail "status $?: $(cat err)"
fi

[[ $(cat out) == $'100000\n100000\n100000' ]] || sp_fail "stdout: $(cat out)"
[[ ! -s err ]] || sp_fail "stderr: $(cat err)"
reads=$(sp_json files.json "sum(f['reads'] for f in d['files'] if f['name'].endswith('/data.bin'))")
[[ $reads -eq 100 ]] || sp_fail "$reads reads of data.bin, not 100"
cmp -s <(sp_json files.json "[f['reads'] for f in d['files'] if f['name'].endswith('/data.bin')]") \
	<(sp_json launched.json "[f['reads'] for f in d['files'] if f['name'].endswith('/data.bin')]") ||
	sp_fail "the launched run differs from that by hand"
grep -qx '    stageprof-report run.zst' next.txt || sp_fail "next: $(cat next.txt)"
grep -q '^ok    recording' doctor.txt || sp_fail "doctor: $(cat doctor.txt)"
[[ -s report.txt && -s absolute.txt && -s launched.txt ]] || sp_fail "no report"
