#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh TARGET CORPUS SECONDS: fuzzes on a copy of the corpus, so that the tree stays as it is. An
# input that fails is left in the working directory.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$2"/* "$work"
ASAN_OPTIONS=quarantine_size_mb=8 "$1" -max_total_time="$3" -timeout=10 \
	-rss_limit_mb=1024 -max_len=16384 -print_final_stats=1 "$work"
