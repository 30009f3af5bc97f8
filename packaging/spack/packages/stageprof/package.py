# SPDX-License-Identifier: Apache-2.0
import os
import re

import spack
from spack.package import *

_CLONE = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))


def _version():
    """The version of the clone that this recipe is in."""
    with open(os.path.join(_CLONE, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"^project\(stageprof VERSION ([0-9.]+)", file.read(), re.M).group(1)


class Stageprof(CMakePackage):
    """Profiler of the whole of a training job: file reads, image decoding, data loaders, waits,
    GPU calls and steps, with no change to the job."""

    homepage = "file://" + os.path.join(_CLONE, "README.md")
    url = "file://" + os.path.join(_CLONE, "build", "dist", f"stageprof-{_version()}.tar.gz")

    license("Apache-2.0", checked_by="stageprof")

    # Without a checksum: `spack dev-build` takes the clone, and scripts/package makes the tarball.
    version(_version())

    if spack.spack_version_info >= (0, 23):  # which knows languages
        depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("gettext", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("uthash", type="build")
    depends_on("libiberty+pic", type=("build", "link"))
    depends_on("libunwind", type=("build", "run"))
    depends_on("zstd libs=shared,static")
    depends_on("elfutils")
    depends_on("sqlite")
    depends_on("utf8proc")
    depends_on("xxhash")
    depends_on("zlib-api")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", False)]
