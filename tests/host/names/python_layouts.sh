# SPDX-License-Identifier: Apache-2.0
# python_layouts.sh SOURCE [INCLUDE...]: rows of scripts/sampler/python_layout.def against the
# headers of the CPythons whose include folders are given (default: those of /usr/include).
set -u
source=$1
shift
[[ $# -gt 0 ]] || set -- /usr/include/python3.*
tried=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for include in "$@"; do
	[[ -e $include/internal/pycore_pystate.h && ${include##*/python3.} -le 12 ]] || continue
	${CC:-cc} -w -I"$include" -I"$include/internal" -I"${include%/*}" -I"$source" \
		"$source/tests/host/names/python_layouts.c" -o "$folder/check" || exit 1
	"$folder/check"
	status=$?
	[[ $status -eq 77 ]] && continue
	[[ $status -eq 0 ]] || { echo "$include"; exit 1; }
	tried=$((tried + 1))
done
[[ $tried -gt 0 ]] || { echo "no headers of CPython 3.8 to 3.12"; exit 77; }
echo "$tried rows fit"
