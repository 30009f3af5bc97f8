# SPDX-License-Identifier: Apache-2.0
# The conda package: rattler-build makes it and runs the tests of its recipe, and rattler, which is
# conda's solver and installer as a library, puts it into an environment, where it is used. A recipe
# with a test that fails makes no package. Needs the network for the two of PyPI; no channel.
. "$(dirname "$0")/package.sh"

python3 -m venv tools 2> /dev/null || sp_skip "no python3-venv"
tools/bin/pip install --quiet --disable-pip-version-check py-rattler-build==0.73.0 \
	py-rattler==0.28.0 2> pip.txt || sp_skip "pip: $(tail -n 1 pip.txt)"
PATH=$SP_WORK/tools/bin:$PATH package=$(sp_package conda)
[[ -s $package ]] || sp_fail "no package"

mkdir -p channel/linux-64 channel/noarch
cp "$package" channel/linux-64/
export RATTLER_CACHE_DIR=$SP_WORK/cache
tools/bin/python - "$SP_WORK" > install.txt 2>&1 <<'PROGRAM' || sp_fail "$(cat install.txt)"
import asyncio
import sys

import rattler
import rattler.exceptions


async def main(folder):
    await rattler.index.index_fs(f"{folder}/channel")
    records = await rattler.solve(
        sources=[rattler.Channel(f"{folder}/channel")],
        specs=["stageprof"],
        platforms=["linux-64", "noarch"],
        virtual_packages=rattler.VirtualPackage.detect(),
    )
    assert [str(record.name.normalized) for record in records] == ["stageprof"], records
    await rattler.install(records, target_prefix=f"{folder}/environment")
    # An older system is refused.
    linux, zero = rattler.PackageName("__linux"), rattler.BuildString("0")
    old = [rattler.GenericVirtualPackage(linux, rattler.Version("5"), zero)]
    try:
        await rattler.solve(
            sources=[rattler.Channel(f"{folder}/channel")],
            specs=["stageprof"],
            platforms=["linux-64", "noarch"],
            virtual_packages=old,
        )
    except rattler.exceptions.SolverError as error:
        assert "__glibc" in str(error), error
    else:
        raise AssertionError("a system without glibc got the package")


asyncio.run(main(sys.argv[1]))
PROGRAM
(
	export PATH=$SP_WORK/environment/bin:$PATH LD_LIBRARY_PATH=$SP_WORK/environment/lib
	[[ $(command -v stageprof) == "$SP_WORK/environment/bin/stageprof" ]]
	bash "$SP_ROOT/tests/host/packaging/used.sh"
) > used.txt 2>&1 || sp_fail "$(cat used.txt)"

mkdir broken
cp -r "$SP_ROOT/packaging/conda/." broken/
sed -i 's/stageprof --version/stageprof --no-such-option/' broken/recipe.yaml
tree=$SP_ROOT/build/package/wheel-$(uname -m).tree
if tools/bin/python -B broken/build.py "$tree" 0.1.0 . > broken.txt 2>&1; then
	sp_fail "the tests of the recipe cannot fail"
fi
grep -q 'a test of packaging/conda/recipe.yaml failed' broken.txt || sp_fail "$(cat broken.txt)"
sp_tried / "the conda package by rattler-build and rattler, from its recipe, without a channel"
