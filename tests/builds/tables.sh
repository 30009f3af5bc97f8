# SPDX-License-Identifier: Apache-2.0
# tables.sh RULES DOCUMENT [--stale]: the tables of the document are those that RULES makes of the
# product's own. --stale: a copy in which a line is gone has to be found.
set -euo pipefail
rules=$1 document=$2
if [[ ${3:-} == --stale ]]; then
	stale=$(mktemp)
	trap 'rm -f "$stale"' EXIT
	sed '/^```doubts$/{n;d}' "$document" > "$stale"
	! cmp -s "$document" "$stale" || { echo "$document has no table of doubts"; exit 1; }
	if bash "$0" "$rules" "$stale" &> /dev/null; then
		echo "a missing line was not found"
		exit 1
	fi
	exit 0
fi
if ! diff -u "$document" <("$rules" "$document"); then
	echo "$document: not as the tables say: cmake --build BUILD --target documents_tables" >&2
	exit 1
fi
