# SPDX-License-Identifier: Apache-2.0
# ctags.sh SOURCE: with .ctags.d/, ctags finds each wrapper at its SP_HOOK line, its other names,
# and lines of tables.
set -euo pipefail
ctags --version 2> /dev/null | grep -q 'Universal Ctags' || {
	echo "skipped: no universal-ctags"
	exit 77
}
cd "$1"
status=0
tags=$(ctags -f - --sort=no --fields=+n -R preload trace)

# name file line
sp_expect()
{
	awk -F '\t' -v name="$1" -v file="$2" -v line="line:$3" \
		'$1 == name && $2 == file && $5 == line { found = 1 } END { exit !found }' <<< "$tags" ||
		{ echo "$2:$3: ctags does not find $1" >&2; status=1; }
}

hooks=$(grep -rnE '^SP_(HOOK|ALIAS)[A-Z_]*\(' --include='*.c' preload)
[[ $(wc -l <<< "$hooks") -gt 150 ]]
while IFS=: read -r file line text; do
	arguments=${text#*(}
	[[ $text == SP_HOOK* ]] && arguments=${arguments#*,}
	name=$(sed -E 's/^[ \t]*([A-Za-z_0-9]*).*/\1/' <<< "$arguments")
	sp_expect "$name" "$file" "$line"
done <<< "$hooks"

IFS=: read -r line _ <<< "$(grep -n '^SP_HOOK.*, pread,' preload/hooks/hooks_file.c)"
sp_expect pread preload/hooks/hooks_file.c "$line"
IFS=: read -r line _ <<< "$(grep -n ' pread,' trace/events.def)"
sp_expect SP_EV_pread trace/events.def "$line"
exit $status
