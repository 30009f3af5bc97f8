# SPDX-License-Identifier: Apache-2.0
# The Spack recipe: spack audits it, and builds and installs it from the tarball of the sources with
# the packages of this system as externals. STAGEPROF_TEST_SPACK names a checkout of Spack, and
# STAGEPROF_TEST_SPACK_PACKAGES one of the packages of Spack 1, neither of which is in an index that
# the tests reach. Needs the network for Spack's solver, clingo of PyPI.
. "$(dirname "$0")/package.sh"

spack=${sp_spack:-}
[[ -x $spack/bin/spack ]] || sp_skip "no Spack: name a checkout by STAGEPROF_TEST_SPACK"
python3 -m venv tools 2> /dev/null || sp_skip "no python3-venv"
tools/bin/pip install --quiet --disable-pip-version-check clingo 2> pip.txt ||
	sp_skip "pip: $(tail -n 1 pip.txt)"
STAGEPROF_DIST=$SP_ROOT/build/dist "$SP_ROOT/scripts/package" tarball > /dev/null

# external PACKAGE DEBIAN_PACKAGE [VARIANTS]: an entry for the installed package.
external()
{
	local version
	version=$(dpkg-query -W -f '${Version}' "$2" 2> /dev/null) || sp_skip "no $2"
	version=${version#*:}
	echo "  $1: {externals: [{spec: \"$1@${version%%[-+]*}${3-}\", prefix: /usr}]}"
}

mkdir config
{
	echo "packages:"
	echo "  all: {buildable: false, providers: {zlib-api: [zlib], pkgconfig: [pkg-config]}}"
	for package in stageprof compiler-wrapper gcc-runtime; do
		echo "  $package: {buildable: true}"
	done
	external cmake cmake
	external gmake make
	external gettext gettext
	external pkg-config pkg-config
	external uthash uthash-dev
	external libiberty libiberty-dev +pic
	external libunwind libunwind-dev
	external zstd libzstd-dev " libs=shared,static"
	external elfutils libelf-dev
	external sqlite libsqlite3-dev
	external utf8proc libutf8proc-dev
	external xxhash libxxhash-dev
	external zlib zlib1g-dev
} > config/packages.yaml
printf 'config:\n  install_tree: {root: %s}\n  build_stage: [%s]\n' "$SP_WORK/store" \
	"$SP_WORK/stage" > config/config.yaml
if [[ -n $sp_spack_packages ]]; then
	printf 'repos:\n  builtin: %s/repos/spack_repo/builtin\n' "$sp_spack_packages" \
		> config/repos.yaml
fi
export SPACK_USER_CONFIG_PATH=$SP_WORK/config SPACK_USER_CACHE_PATH=$SP_WORK/cache
export SPACK_PYTHON=$SP_WORK/tools/bin/python HOME=$SP_WORK
unset SPACK_ROOT

# spack WORDS...: runs Spack, and says what failed.
run_spack()
{
	"$spack/bin/spack" "$@" >> spack.txt 2>&1 || sp_fail "spack $*: $(tail -n 30 spack.txt)"
}

run_spack repo add "$SP_ROOT/packaging/spack"
run_spack compiler find
run_spack audit packages stageprof
grep -qE 'PKG-DIRECTIVES: (0 issues found|passed)' spack.txt || sp_fail "audit: $(cat spack.txt)"
run_spack install --no-checksum -j 2 stageprof
prefix=$("$spack/bin/spack" location --install-dir stageprof)
[[ $prefix == "$SP_WORK"/store/* ]] || sp_fail "installed in $prefix"
(
	export PATH=$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib:$prefix/lib64
	[[ $(command -v stageprof) == "$prefix/bin/stageprof" ]]
	bash "$SP_ROOT/tests/host/packaging/used.sh"
) > used.txt 2>&1 || sp_fail "$(cat used.txt)"
run_spack uninstall --yes-to-all stageprof
[[ ! -e $prefix ]] || sp_fail "spack uninstall left $prefix"
sp_tried / "the recipe of Spack $("$spack/bin/spack" --version | cut -d' ' -f1): audited, built from the sources"
