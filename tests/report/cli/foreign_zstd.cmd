command -v zstd >/dev/null || { echo "no zstd command" >&2; exit 77; }; 
echo hello | zstd -q >$work/t.zst; $REPORT $work/t.zst
