#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh TARGET CORPUS OPTION...: fuzzes on a copy of the corpus, so that the tree stays as it is.
# OPTIONS are libFuzzer's. An input that fails is left in the working directory.
#
# With -seed and -runs the same inputs run each time. Addresses are fixed where the kernel allows
# it, because libFuzzer learns from compared values; its corpus is not read again while it runs.
set -eu
target=$1 corpus=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$corpus"/* "$work"
fixed=
! setarch -R true 2>/dev/null || fixed="setarch -R"
ASAN_OPTIONS=quarantine_size_mb=8 $fixed "$target" "$@" -timeout=10 -rss_limit_mb=1024 -reload=0 \
	-max_len=16384 -print_final_stats=1 "$work"
