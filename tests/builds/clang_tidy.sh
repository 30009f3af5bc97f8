# SPDX-License-Identifier: Apache-2.0
# clang_tidy.sh SOURCE BUILD: every file of the programs, with .clang-tidy.
set -euo pipefail
command -v run-clang-tidy clang-tidy > /dev/null || { echo "skipped: no clang-tidy"; exit 77; }
[[ -e $2/compile_commands.json ]] || { echo "skipped: no $2/compile_commands.json"; exit 77; }
cd "$1"
# its config is found from each file's folder
run-clang-tidy -quiet -j "$(nproc)" -p "$2" "^$PWD/(preload|trace|analyzer|scripts)/.*\.c$" > "$2/clang-tidy.log" 2>&1 ||
	{ grep -E '(warning|error):' "$2/clang-tidy.log" | sort -u; exit 1; }
