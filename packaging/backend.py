# SPDX-License-Identifier: Apache-2.0
"""The build backend of pip (PEP 517): scripts/package makes the packages. Needs the
packages that scripts/packages.txt lists under `build`, and none of Python's."""

import os
import platform
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def package(folder, *words):
    """pip hides the machine's Python packages, of which cmake may be one."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [os.path.join(ROOT, "scripts", "package"), *words],
        env={**env, "STAGEPROF_DIST": os.path.abspath(folder)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return os.path.basename(done.stdout.split()[-1])


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return package(wheel_directory, "wheel", platform.machine())


def build_sdist(sdist_directory, config_settings=None):
    return package(sdist_directory, "tarball")
