# SPDX-License-Identifier: Apache-2.0
# The demo's trainer says and does the same with and without the preload; every image decoded is in
# the report; the run is valid zstd, and reads the same as a directory and as one file.
. "$(dirname "$0")/scene.sh"

python=$(sp_python_find) || exit 77
photos=$SP_ROOT/build/photos/set
[[ -d $photos ]] || sp_skip "no photographs in build/photos/set; scripts/test makes them"
trainer=$SP_ROOT/tests/programs/trainers/image_folder.py
epochs=2

for label in temple flower; do
	mkdir -p data/train/$label data/val/$label
	for number in 00{00..31}; do
		ln -s "$photos/train/$label/$number.jpg" data/train/$label/
	done
	for number in 00{00..11}; do
		ln -s "$photos/val/$label/$number.jpg" data/val/$label/
	done
done
images=$(find data -name '*.jpg' | wc -l)

status=0
"$python" "$trainer" --data data --epochs $epochs "$@" > bare.out 2> bare.err || status=$?
[[ $status -eq 0 ]] || sp_fail "the trainer itself fails: $(cat bare.err)"
LD_PRELOAD=$library "$python" "$trainer" --data data --epochs $epochs "$@" \
	> preload.out 2> preload.err || sp_fail "exit status $? with the preload: $(cat preload.err)"
cmp bare.out preload.out || sp_fail "stdout differs"
cmp bare.err preload.err || sp_fail "stderr differs: $(cat preload.err)"
sp_runs_expect run.zst
sp_run_wait run.zst

"$report" stages --format=json run.zst > directory.json
decoded=$(sp_stage_calls directory.json jpeg_decode)
[[ $decoded -eq $((images * epochs)) ]] ||
	sp_fail "$decoded images decoded by the report, $((images * epochs)) in truth"
lost=$(sp_json directory.json "d['run']['events_lost']")
[[ $lost -eq 0 ]] || sp_fail "$lost events lost"

for file in run.zst/*; do
	zstd -tq "$file" || sp_fail "zstd -t $file"
done
cat run.zst/* > one.zst
zstd -tq one.zst || sp_fail "zstd -t on the concatenation"
"$report" stages --format=json one.zst > file.json
python3 "$SP_ROOT/tests/host/demo/json_differences.py" directory.json file.json || sp_fail "reports differ"
