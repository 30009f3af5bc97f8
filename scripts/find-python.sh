#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints the interpreter for tests that train: the first of $PYTHON, build/venv's and the user's
# python3 that has torch, PIL and the modules given as arguments. Installs nothing. Exits with 1 if
# there is none.
set -euo pipefail
SP_ROOT=$(cd "$(dirname "$0")/.." && pwd)
. "$SP_ROOT/scripts/python.sh"

# Looks for each module, and imports none: PyTorch takes two seconds, and many tests ask.
has()
{
	"$1" -c 'import sys; from importlib.util import find_spec
found = [find_spec(name) for name in sys.argv[1:]]
sys.exit(not all(spec and spec.origin for spec in found))' "${@:2}" 2> /dev/null
}

for python in ${PYTHON:-} "$SP_VENV/bin/python" "$(command -v python3 || true)"; do
	if [[ -x $python ]] && has "$python" torch PIL "$@"; then
		# The interpreter of a version manager's shim, so that the shim's own children stay
		# out.
		"$python" -c 'import sys; print(sys.executable)'
		exit 0
	fi
done
echo "no python3 with torch, PIL $*; scripts/test makes one in build/venv" >&2
exit 1
