command -v zstd >/dev/null || { echo "no zstd command" >&2; exit 77; }; 
head -c 4294967296 /dev/zero | zstd -1 -q >$work/t.zst
[ -n "${SANITIZED-}" ] || ulimit -v 400000 # sanitizers need more address space than that
$REPORT $work/t.zst
