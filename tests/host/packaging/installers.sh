# SPDX-License-Identifier: Apache-2.0
# The wheel by other installers than pip in an environment: pip --user, uv, uv for another folder,
# and pipx. Each one's programs record, and nothing is left afterwards. auditwheel, which judges
# wheels for package indexes, agrees with the wheel's name. Needs the network.
. "$(dirname "$0")/package.sh"

wheel=$(sp_package wheel "$(uname -m)")
python3 -m venv tools 2> /dev/null || sp_skip "no python3-venv"
tools/bin/pip install --quiet --disable-pip-version-check auditwheel==6.8.2 uv==0.13.9 \
	pipx==1.18.4 	2> pip.txt || sp_skip "pip: $(tail -n 1 pip.txt)"

tools/bin/auditwheel show "$wheel" > auditwheel.txt 2>&1 || sp_fail "$(cat auditwheel.txt)"
tr -s ' \n' ' ' < auditwheel.txt > auditwheel.line
tag=manylinux_2_17_$(uname -m)
grep -q "is consistent with the following platform tag: \"$tag\"" auditwheel.line ||
	sp_fail "auditwheel: $(cat auditwheel.txt)"

# used PROGRAMS: the programs of this folder record.
used()
{
	rm -rf run.zst
	"$1/stageprof" run --quiet -- python3 train.py > out.txt
	"$1/stageprof-report" files --format=json run.zst > files.json
	grep -q 'data.bin".*"reads":100,.*"read_bytes":100000,' files.json ||
		sp_fail "$1: the reads are not there"
}

files()
{
	find "$1" -not -type d -not -path '*/__pycache__/*' | sort
}

# removed FOLDER COMMAND...: nothing is left in the folder when the command has run.
removed()
{
	local folder=$1
	shift
	"$@" > out.txt 2>&1 || sp_fail "$*: $(cat out.txt)"
	files "$folder" | grep stageprof > left.txt && sp_fail "$* left $(cat left.txt)"
	return 0
}

export PYTHONUSERBASE=$SP_WORK/user PIP_BREAK_SYSTEM_PACKAGES=1
user=(/usr/bin/python3 -m pip)
"${user[@]}" --version > /dev/null 2>&1 || user=("$(command -v python3)" -m pip)
"${user[@]}" install --quiet --user --no-index "$wheel" 2> user.txt ||
	sp_fail "pip --user: $(cat user.txt)"
used user/bin
"${user[0]}" -m stageprof --version > out.txt || sp_fail "--user: python -m stageprof"
removed user "${user[@]}" uninstall --quiet --yes stageprof

tools/bin/uv venv --quiet --offline --python "$(command -v python3)" by_uv
VIRTUAL_ENV=$SP_WORK/by_uv tools/bin/uv pip install --quiet --offline "$wheel"
used by_uv/bin
removed by_uv env VIRTUAL_ENV="$SP_WORK/by_uv" tools/bin/uv pip uninstall --quiet stageprof

export UV_TOOL_DIR=$SP_WORK/uv_tools UV_TOOL_BIN_DIR=$SP_WORK/uv_bin
tools/bin/uv tool install --quiet --offline "$wheel"
used uv_bin
removed uv_bin tools/bin/uv tool uninstall --quiet stageprof

export PIPX_HOME=$SP_WORK/pipx PIPX_BIN_DIR=$SP_WORK/pipx_bin PIPX_MAN_DIR=$SP_WORK/pipx_man
tools/bin/pipx install "$wheel" > pipx.txt 2>&1 || sp_fail "pipx: $(cat pipx.txt)"
used pipx_bin
removed pipx_man tools/bin/pipx uninstall stageprof
left=$(find pipx/venvs pipx_bin -mindepth 1 -not -name .stageprof.lock) # pipx's own
[[ -z $left ]] || sp_fail "pipx left $left"
echo "auditwheel: $tag"
sp_tried / "the wheel by \`pip --user\`, uv, \`uv tool\` and pipx; auditwheel agrees with its name"
