# SPDX-License-Identifier: Apache-2.0
"""build.py TREE VERSION FOLDER: a conda package of the installed TREE by rattler-build, of PyPI's
py-rattler-build. Its tests run in an environment of the package alone. Needs no channel."""

import os
import shutil
import sys
import tempfile

try:
    import rattler_build
except ImportError:
    sys.exit("scripts/package: no rattler-build; give: python3 -m pip install py-rattler-build")

RECIPE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recipe.yaml")


def build(channel):
    """The packages that the recipe makes in the folder, an empty channel."""
    os.mkdir(os.path.join(channel, "noarch"))
    with open(os.path.join(channel, "noarch", "repodata.json"), "w", encoding="utf-8") as file:
        file.write('{"packages": {}, "packages.conda": {}}')
    results = rattler_build.Stage0Recipe.from_file(RECIPE).run_build(
        output_dir=channel, channels=[channel], no_build_id=True
    )
    return [package for result in results for package in result.packages]


def main():
    tree, version, folder = sys.argv[1:]
    os.environ["STAGEPROF_VERSION"] = version
    os.environ["STAGEPROF_TREE"] = os.path.abspath(tree)
    with tempfile.TemporaryDirectory() as scratch:
        # rattler-build tests the package of its cache that has the same name.
        os.environ["RATTLER_CACHE_DIR"] = os.path.join(scratch, "cache")
        channel = os.path.join(scratch, "channel")
        os.mkdir(channel)
        for path in build(channel):
            for test in rattler_build.Package.from_file(path).run_tests(channel=[channel]):
                if not test.success:
                    said = "\n".join(test.output)
                    sys.exit(f"a test of packaging/conda/recipe.yaml failed:\n{said}")
            print(shutil.copy(path, folder))


if __name__ == "__main__":
    main()
