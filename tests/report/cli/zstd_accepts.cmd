command -v zstd >/dev/null || { echo "no zstd command" >&2; exit 77; }; 
cat v2/run.zst/* >$work/one.zst && zstd -qt v2/run.zst/*.zst $work/one.zst
