# SPDX-License-Identifier: Apache-2.0
# Sourced, after python.sh: the demo's data set.

# Makes the photographs once, in build/photos/set, by the interpreter given; prints that folder.
sp_photos_make()
{
	local python=$1 folder=$SP_ROOT/build/photos pip=$1
	mkdir -p "$folder"
	exec 8>"$folder.lock"
	flock 8
	if [[ ! -d $folder/set ]]; then
		echo "making JPEG photographs in build/photos/set" >&2
		# Debian's python3 comes without pip; a virtual environment has its own.
		"$pip" -m pip --version >/dev/null 2>&1 || pip=$(sp_venv_make)
		# Every wheel of this version has the same photographs, so the result is the same on
		# every machine.
		"$pip" -m pip download --quiet --disable-pip-version-check --no-deps \
			--only-binary :all: --python-version 3.11 --platform manylinux2014_x86_64 \
			-d "$folder" -r "$SP_ROOT/scripts/requirements-photos.txt" >&2
		"$python" "$SP_ROOT/scripts/make-photos.py" "$folder"/scikit_learn-*.whl "$folder/set" >&2
	fi
	exec 8>&-
	echo "$folder/set"
}
