# SPDX-License-Identifier: Apache-2.0
# scripts/demo runs to its end, counts every image, and has nothing left to install the second time.
. "$(dirname "$0")/scene.sh"

[[ -d $SP_ROOT/build/photos/set ]] ||
	sp_skip "no photographs in build/photos/set; scripts/test makes them"
images=$(find "$SP_ROOT/build/photos/set" -name '*.jpg' | wc -l)
# The demo's build is whole: cmake --install may follow it.
tests_built() { grep '^BUILD_TESTING:' "$SP_ROOT/build/release/CMakeCache.txt"; }
before=$(tests_built)
page=$SP_ROOT/docs/man/stageprof.1.in
touch "$page"
"$SP_ROOT/scripts/demo" --epochs 1 > first.out 2> first.err || sp_fail "first: $(cat first.err)"
"$SP_ROOT/scripts/demo" --epochs 1 > second.out 2> second.err || sp_fail "second: $(cat second.err)"

[[ $SP_ROOT/build/release/man/man1/stageprof.1 -nt $page ]] || sp_fail "the demo leaves out a man page"
[[ $(tests_built) == "$before" ]] || sp_fail "the demo took the tests out of the tree, or put them in"
! grep -E '^(installing|making)' second.err || sp_fail "the second run installed again"
grep '^epoch' first.out > first.epochs
grep '^epoch' second.out | cmp - first.epochs || sp_fail "the trainer's output differs"
for out in first.out second.out; do
	grep -q "^JPEG decode *$images " $out || sp_fail "no row of $images JPEG images in $out"
done
# Each command that the demo ends with works.
cd "$SP_ROOT/build/demo"
count=0
while read -r command; do
	written=$(sed -n 's/.* -o \([^ ]*\).*/\1/p' <<< "$command")
	rm -f "$written"
	bash -c "$command" > "$SP_WORK/next.out" || sp_fail "'$command': status $?"
	[[ -s ${written:-$SP_WORK/next.out} ]] || sp_fail "'$command' gives nothing"
	count=$((count + 1))
done < <(sed -n 's/^    \(.*stageprof-report \)/\1/p' "$SP_WORK/second.out" | grep -v train.py)
[[ $count -ge 3 ]] || sp_fail "only $count commands to go on with"
