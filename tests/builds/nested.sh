# SPDX-License-Identifier: Apache-2.0
# nested.sh SOURCE BUILD LABELS CMAKE-ARGUMENTS...: builds SOURCE in BUILD without a warning, and
# runs the tests whose label matches LABELS (none if it is empty). At least one must run.
set -euo pipefail
source=$1 build=$2 labels=$3
shift 3

cd "$source"
# A build's output would drown that of the test that failed.
quietly()
{
	local log
	log=$("$@" 2>&1) || { printf '%s\n' "$log"; return 1; }
}

quietly cmake -S . -B "$build" -D STAGEPROF_WERROR=ON -D STAGEPROF_NESTED=ON "$@"
quietly cmake --build "$build" -j 2
[[ -z $labels ]] ||
	ctest --test-dir "$build" --output-on-failure --no-tests=error -L "$labels" -LE nightly -j 2
