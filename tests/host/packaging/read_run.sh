# SPDX-License-Identifier: Apache-2.0
# read_run.sh REPORT FOLDER/RUN VIEWS EXPORTERS: each view of the RUN beside FOLDER in each format,
# its page, its digest and its exports, in FOLDER/RUN.
set -eu
report=$(realpath "$1") views=$3 exporters=$4
mkdir -p "$2"
cd "$2"
run=../../${2##*/}
# made NAME WORDS...: the program's output and exit status, in the folder.
made()
{
	local name=$1 status=0
	shift
	"$report" --lang=en "$@" > "$name.txt" 2>&1 || status=$?
	echo "status $status" >> "$name.txt"
}
for view in $views; do
	for format in table json csv md; do
		made "$view.$format" --format=$format --limit=all "$view" "$run"
	done
done
made page html --output=page.html "$run"
made digest digest --output=run.spd "$run"
for exporter in $exporters; do
	made "$exporter" export "$exporter" --output="run.$exporter" "$run"
done
