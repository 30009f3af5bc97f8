#!/bin/bash
# Prints the interpreter that tests train with: $PYTHON, or build/venv's, or the user's python3,
# whichever first imports torch, PIL and the modules given as arguments. Installs nothing; exit 1 if
# there is none.
set -euo pipefail
SP_ROOT=$(cd "$(dirname "$0")/.." && pwd)
. "$SP_ROOT/scripts/python.sh"

for python in ${PYTHON:-} "$SP_VENV/bin/python" "$(command -v python3 || true)"; do
	if [[ -x $python ]] && sp_python_has "$python" torch PIL "$@"; then
		# What a version manager's shim stands for, so that the shim's own children stay out.
		"$python" -c 'import sys; print(sys.executable)'
		exit 0
	fi
done
echo "no python3 with torch, PIL $*; scripts/test makes one in build/venv" >&2
exit 1
