# SPDX-License-Identifier: Apache-2.0
# documents.sh SOURCE: docs/REFERENCE.md names every setting and view there is; it and the
# README name no other; links lead somewhere, and paths are those of files.
set -euo pipefail
cd "$1"
status=0
reference=docs/REFERENCE.md

sp_complain()
{
	echo "$*" >&2
	status=1
}

settings=$(sed -n 's/^SP_SETTING([a-z_]*, "\([A-Z_]*\)".*/\1/p' preload/settings/config.def)
[[ -n $settings ]] || sp_complain "no settings in preload/settings/config.def"
for name in $settings; do
	# The run is handed on in it; nobody sets it by hand.
	[[ $name == STAGEPROF_RUN ]] || grep -qw "$name" "$reference" || sp_complain "$reference: no $name"
done
for name in $(grep -ohE '\bSTAGEPROF_[A-Z]+' README.md "$reference" | sort -u); do
	# The report's own; the recorder knows no more of it than that it is no mistake.
	[[ $name == STAGEPROF_LANG ]] || grep -qx "$name" <<< "$settings" || sp_complain "README.md or $reference: $name is no setting"
done

for name in $(sed -n 's/^SP_VIEW(\([a-z]*\),.*/\1/p' analyzer/views/views.def); do
	grep -qw -- "$name" "$reference" || sp_complain "$reference: no view $name"
done

# A line for each framework: its title, and yes, some or - for each part that it gives.
frameworks=docs/FRAMEWORKS.md
while read -r row; do
	grep -qxF -- "$row" "$frameworks" || sp_complain "$frameworks: no row '$row'"
done < <(sed '/^SP_FRAMEWORK/!{/^\t/!d}' trace/frameworks.def | tr -d '\n' | sed 's/SP_FRAMEWORK(/\n/g' |
	awk -F'"' 'NF > 6 {
		count = split("STEPS WAITS PHASES TRANSFERS COMPILATION CHECKPOINTS MODULES OPERATORS", parts, " ")
		row = "| " $2 " |"
		for (i = 1; i <= count; i++)
			row = row ($7 ~ "SP_GIVES_(ALL|" parts[i] ")" ? " yes |" : $7 ~ "SP_GIVES_SOME_" parts[i] ? " some |" : " - |")
		print row
	}')
[[ $(grep -c '^SP_FRAMEWORK' trace/frameworks.def) == \
	$(grep -cE '^\| [^|]+ \|( (yes|some|-) \|){8}$' "$frameworks") ]] ||
	sp_complain "$frameworks has not as many rows as trace/frameworks.def"

for document in *.md docs/*.md; do
	for link in $(grep -oE '\]\([^)]+\)' "$document" | sed 's/^](//; s/)$//' | grep -v '^https\?:'); do
		[[ -e $(dirname "$document")/${link%%#*} ]] || sp_complain "$document: no $link"
	done
done

# Paths in backquotes; those of an example to follow (NAME, CODE) and of patterns do not exist.
for document in *.md docs/*.md; do
	[[ $document != CHANGELOG.md ]] || continue # it names files of earlier trees
	for path in $(grep -oE '`(analyzer|cmake|docs|packaging|preload|scripts|tests|trace)/[a-z0-9_./-]+`' "$document" | tr -d '`'); do
		# Files of the example view of CONTRIBUTING.md, and its hook.
		[[ -e $path || $path == *notes.* || $path == */hooks_jxl.c ]] || sp_complain "$document: no file $path"
	done
done
exit $status
