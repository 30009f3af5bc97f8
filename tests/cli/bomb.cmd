command -v zstd >/dev/null || { echo "no zstd command" >&2; exit 77; }; 
head -c 4294967296 /dev/zero | zstd -1 -q >$work/t.zst; 
# a sanitized program needs more address space than that for itself
(ulimit -v 400000; $REPORT --version) >/dev/null 2>&1 && ulimit -v 400000
$REPORT $work/t.zst
