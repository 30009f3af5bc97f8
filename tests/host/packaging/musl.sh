# SPDX-License-Identifier: Apache-2.0
# A root file system with musl and no glibc: a program runs there under the preload as without it,
# and one line for the whole job says that nothing is recorded. pip refuses the wheel. Needs root,
# musl-gcc and a static busybox.
. "$(dirname "$0")/package.sh"
. "$(dirname "$0")/roots.sh"

command -v musl-gcc > /dev/null || sp_skip "no musl-gcc"
loader=$(echo /lib/ld-musl-*.so.1)
[[ -e $loader ]] || sp_skip "no musl"
file -L /bin/busybox 2> /dev/null | grep -q 'statically linked' || sp_skip "no busybox-static"
sp_package tree > /dev/null
cat > program.c <<'PROGRAM'
#include <stdio.h>
#include <unistd.h>

/* Reads itself and runs itself once more. */
int main(int argc, char **argv)
{
	char byte;
	FILE *self = fopen(argv[0], "rb");

	printf("%d %d\n", argc, self && fread(&byte, 1, 1, self) == 1 ? byte : 0);
	fflush(stdout);
	if (argc < 2)
		return 5;
	execl(argv[0], argv[0], (char *)NULL);
	return 1;
}
PROGRAM
mkdir -p musl/bin musl/lib musl/tmp
musl-gcc -o musl/bin/program program.c
cp /bin/busybox musl/bin/sh
cp -L "$loader" musl/lib/
tar --extract --directory=musl --file="$(echo stageprof-*-linux-*.tar.gz)"
[[ -z $(find musl -name 'libc.so*' -o -name 'ld-linux*') ]] || sp_fail "glibc is there"
cat > inside.sh <<'COMMANDS'
cd /tmp
export LD_PRELOAD=$1
/bin/program again
echo "status $?"
COMMANDS
cp inside.sh musl/
unshare --mount true 2> enter.txt || sp_skip "no root of its own: $(cat enter.txt)"
library=/opt/stageprof/lib/libstageprof.so
chroot musl /bin/sh /inside.sh "" > plain.txt 2> plain.err
chroot musl /bin/sh /inside.sh $library > out.txt 2> err.txt
cmp plain.txt out.txt || sp_fail "another output: $(diff plain.txt out.txt)"
[[ $(tail -n 1 out.txt) == "status 5" && ! -s plain.err ]] || sp_fail "$(cat out.txt plain.err)"
[[ $(grep -c '' err.txt) -eq 1 ]] || sp_fail "not one line: $(cat err.txt)"
grep -q '^stageprof: another libc .*: nothing is recorded of .*; use an image with' err.txt ||
	sp_fail "$(cat err.txt)"
[[ -z $(ls musl/tmp) ]] || sp_fail "a trace: $(ls musl/tmp)"

wheel=$(sp_package wheel "$(uname -m)")
if python3 -m pip install --no-index --no-deps --target=none --only-binary=:all: \
	--platform="musllinux_1_2_$(uname -m)" "$wheel" > pip.txt 2>&1; then
	sp_fail "pip installed the wheel for musl"
fi
grep -q '^ERROR: stageprof.* is not a supported wheel on this platform' pip.txt ||
	sp_fail "pip: $(cat pip.txt)"
version=$(strings -a "$loader" | grep -xE '1\.[0-9]+\.[0-9]+' | head -n 1)
sp_tried / "a root with musl $version alone: a program runs under the preload, unrecorded"
