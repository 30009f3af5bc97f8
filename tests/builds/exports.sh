# exports.sh SOURCE LIBRARY: what libstageprof.so shows to the process that it is a guest in.
set -euo pipefail
source=$1 library=$2
status=0

sp_complain()
{
	echo "$*" >&2
	status=1
}

# A library that cannot be found would keep every program of the job from starting.
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | xargs)
[[ $needed == libc.so.6 ]] || sp_complain "NEEDED: $needed; only libc.so.6 may be"

# The zstd inside stays hidden; what the host calls of its own is a hook's. Any other name would take the place of one of the host's own.
exported=$(nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u)
[[ -n $exported ]] || sp_complain "nothing is exported"
for name in $(grep -E '^(sp_|stageprof|ZSTD|ZBUFF|FSE|HUF|HIST|XXH|POOL|ERR_|_Unwind|unw_)' <<< "$exported" |
		grep -vE '^ZSTD_decompress(DCtx|Stream)?$'); do
	sp_complain "exported: $name"
done
for name in $exported; do
	# The twins of CUDA's functions are made by macros.
	base=$(sed -E 's/_(ptsz|ptds)$//; s/_v[0-9]+$//' <<< "$name")
	grep -qwE -- "$name|$base" "$source"/preload/*.[chS] "$source"/preload/*.def ||
		sp_complain "exported: $name, which no source of preload/ names"
done

# An event that no hook makes would read as "never happened".
for name in $(sed -n 's/^SP_EVENT([0-9]*, \([A-Za-z_0-9]*\),.*/\1/p' "$source/trace/events.def"); do
	grep -qwE "(SP_EV_)?$name" "$source"/preload/*.[chS] "$source"/preload/*.def ||
		sp_complain "events.def: nothing in preload/ makes $name"
done
exit $status
