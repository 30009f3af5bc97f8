# SPDX-License-Identifier: Apache-2.0
# cppcheck.sh SOURCE: every file of the programs, without a finding that cppcheck.suppressions does
# not explain.
set -euo pipefail
command -v cppcheck > /dev/null || { echo "skipped: no cppcheck"; exit 77; }
cd "$1"
exec cppcheck --quiet --error-exitcode=1 -j "$(nproc)" --std=c11 -I . -D_GNU_SOURCE -D__x86_64__ \
	--include=tests/builds/cppcheck_macros.h \
	--enable=warning,performance,portability --suppressions-list=tests/builds/cppcheck.suppressions \
	preload trace analyzer scripts/launcher scripts/sampler scripts/watch
