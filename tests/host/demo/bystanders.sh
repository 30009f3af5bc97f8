# SPDX-License-Identifier: Apache-2.0
# Shells, compilers and tools under the preload leave no file and print nothing of stageprof.
. "$(dirname "$0")/scene.sh"

cat > hello.c <<'PROGRAM'
#include <stdio.h>
int main(void) { return puts("hello") < 0; }
PROGRAM
printf 'all:\n\t@gcc -O2 -o hello-make hello.c && ls hello-make\n' > Makefile

count=0
while read -r command; do
	bare_status=0 status=0
	sh -c "$command" > bare.out 2> bare.err || bare_status=$?
	rm -rf repository hello hello-make hello.o
	LD_PRELOAD=$library sh -c "$command" > preload.out 2> preload.err || status=$?
	rm -rf repository hello hello-make hello.o
	[[ $status -eq $bare_status ]] || sp_fail "'$command': status $status, bare $bare_status"
	cmp bare.out preload.out || sp_fail "'$command': stdout differs"
	cmp bare.err preload.err || sp_fail "'$command': stderr: $(cat preload.err)"
	found=$(find . -name '*.zst*')
	[[ -z $found ]] || sp_fail "'$command' left $found"
	count=$((count + 1))
done <<'COMMANDS'
gcc -O2 -o hello hello.c
gcc -c -g hello.c && nm hello.o | wc -l
git init -q repository && cd repository && git status --short
ls hello.c Makefile
ls missing
bash -c 'for i in 1 2 3; do echo $i | cat; done'
make
cat hello.c | sed s/hello/bye/ | sort | uniq | head -3
find hello.c -type f | xargs wc -l
grep -c puts hello.c
tar cf - hello.c | wc -c
cp hello.c copy.c && diff hello.c copy.c && rm copy.c
env | grep -c '^PATH='
COMMANDS
echo "$count commands"
