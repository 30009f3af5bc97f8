# layers.sh SOURCE: who may include whom.
set -euo pipefail
cd "$1"
status=0

# Prints the includes in the files given that match PATTERN, and remembers that there were some.
sp_layer_refuse()
{
	local why=$1 pattern=$2
	shift 2
	if grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*$pattern" "$@"; then
		echo "^ $why" >&2
		status=1
	fi
}

[[ -n $(ls preload/*.c analyzer/*.c trace/*.h) ]]
sp_layer_refuse "preload/ never includes analyzer/" '"analyzer/' preload/*.[ch]
sp_layer_refuse "analyzer/ never includes preload/" '"preload/' analyzer/*.[ch]
sp_layer_refuse "trace/ includes libc and itself only" '"(analyzer|preload|tests)/' trace/*.[ch]
sp_layer_refuse "nothing of the product includes tests/" '"tests/' preload/*.[ch] analyzer/*.[ch]
sp_layer_refuse "includes are written from the root" '"[^/"]+"' preload/*.[ch] analyzer/*.[ch] trace/*.[ch]

# The launcher stands beside both: of the recorder it takes names and tables, of the analyzer only how text is written.
sp_layer_refuse "nothing of the product includes the launcher" '"scripts/' preload/*.[ch] analyzer/*.[ch] trace/*.[ch]
sp_layer_refuse "includes are written from the root" '"[^/"]+"' scripts/launcher/*.[ch]
sp_layer_refuse "the launcher knows config, setting, dormant and run of the recorder, no more" \
	'"preload/([a-bf-q]|c[^o]|d[^o]|r[^u]|s[^e]|[t-z])' scripts/launcher/*.[ch]
sp_layer_refuse "the launcher knows json, language, text, translate, out and the troubles of the analyzer, no more" \
	'"analyzer/([a-ikmnp-su-z]|l[^a]|la[^n]|t[^er]|tr[^oa]|tra[^n])' scripts/launcher/*.[ch]

# One file of each side knows zstd.
for side in preload analyzer; do
	users=$(grep -lE '#[[:space:]]*include[[:space:]]*<zstd' $side/*.[ch] | wc -l)
	if [[ $users -ne 1 ]]; then
		echo "$users files of $side/ include zstd, not 1" >&2
		status=1
	fi
done
exit $status
