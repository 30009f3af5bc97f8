# SPDX-License-Identifier: Apache-2.0
# Sourced: finds the Python interpreter for training. Makes a virtual environment if none exists.
shopt -s inherit_errexit

SP_VENV=$SP_ROOT/build/venv

# True if the interpreter imports every module named.
sp_python_has()
{
	local python=$1 module
	shift
	for module; do
		"$python" -c "import $module" 2>/dev/null || return 1
	done
}

# Makes build/venv if it is missing; prints its interpreter.
sp_venv_make()
{
	local base=/usr/bin/python3
	# The first python3 on PATH may be a shim of a version manager, without venv.
	"$base" -c 'import ensurepip' 2>/dev/null || base=python3
	[[ -x $SP_VENV/bin/python ]] || "$base" -m venv "$SP_VENV" >&2
	echo "$SP_VENV/bin/python"
}

# Installs a requirements file of scripts/ into build/venv, once; prints its interpreter.
sp_venv_install()
{
	local requirements=$SP_ROOT/scripts/$1 done=$SP_VENV/$1.done python wanted
	mkdir -p "$SP_ROOT/build"
	exec 9>"$SP_ROOT/build/venv.lock"
	flock 9
	python=$(sp_venv_make)
	wanted=$(cat "$SP_ROOT"/scripts/requirements-*.txt)
	if [[ ! -e $done || $(cat "$done") != "$wanted" ]]; then
		echo "installing into build/venv what scripts/$1 names, by pip" >&2
		echo "(PyTorch without CUDA is a tenth of the size: stop here and set" \
			"PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu" \
			"if you want it)" >&2
		"$python" -m pip install --quiet --disable-pip-version-check -r "$requirements" >&2
		printf '%s\n' "$wanted" > "$done"
	fi
	exec 9>&-
	echo "$python"
}

# Prints the interpreter for the demo: the user's python3 where it can train, else that of
# build/venv.
sp_python_for_demo()
{
	local python
	if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) &&
			sp_python_has "$python" torch PIL numpy; then
		echo "$python"
		return
	fi
	sp_venv_install requirements-demo.txt
}
