# SPDX-License-Identifier: Apache-2.0
"""wheel.py TREE VERSION TAG FOLDER: a wheel of the installed TREE, the same bytes each time.

The programs become scripts and the library and the pages data: pip puts them into the bin, lib and
share of an environment. Each entry has the time of SOURCE_DATE_EPOCH.
"""

import base64
import glob
import hashlib
import os
import sys
import time
import zipfile

import metadata

# docs/INSTALL.md promises it: a job may fetch the wheel each time it starts.
MOST_BYTES = 2_200_000
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
# The Debian packages whose code is inside the programs: each one's licence goes along.
INSIDE = """libzstd-dev libxxhash-dev uthash-dev libiberty-dev libjs-dygraphs libutf8proc-dev
    libsqlite3-dev zlib1g-dev libelf-dev libunwind-dev""".split()
WHEEL = """Wheel-Version: 1.0
Generator: stageprof
Root-Is-Purelib: false
Tag: {tag}
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def copyright_of(package):
    """The tarball of the sources has dygraphs in vendor/."""
    vendor = os.path.join(ROOT, "vendor", package, "copyright")
    return vendor if os.path.exists(vendor) else f"/usr/share/doc/{package}/copyright"


def members(tree, version, tag):
    """(name in the wheel, bytes, is a program) of each file but RECORD."""
    data, info = f"stageprof-{version}.data", f"stageprof-{version}.dist-info"
    for path in sorted(glob.glob(os.path.join(HERE, "python", "stageprof", "*.py"))):
        yield "stageprof/" + os.path.basename(path), read(path), False
    for folder, _, names in sorted(os.walk(tree)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            inside = os.path.relpath(path, tree)
            if inside.startswith("bin/"):
                yield f"{data}/scripts/{name}", read(path), True
            elif inside.startswith("lib/"):
                yield f"{data}/data/{inside}", read(path), True
            elif not inside.startswith("share/doc/"):
                yield f"{data}/data/{inside}", read(path), False
    licences = {name: os.path.join(ROOT, name) for name in ("LICENSE", "NOTICES.md")}
    licences |= {f"{package}.txt": copyright_of(package) for package in INSIDE}
    for name in ("GPL-3", "LGPL-3"):
        licences[f"{name}.txt"] = f"/usr/share/common-licenses/{name}"
    for name, path in sorted(licences.items()):
        yield f"{info}/licenses/{name}", read(path), False
    yield f"{info}/sboms/stageprof.cdx.json", metadata.bill(version).encode(), False
    yield f"{info}/METADATA", metadata.metadata(version, sorted(licences)).encode(), False
    yield f"{info}/WHEEL", WHEEL.format(tag=tag).encode(), False


def write(path, tree, version, tag):
    epoch = max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800)  # 1980: zip has no older
    when = time.gmtime(epoch)[:6]
    record = f"stageprof-{version}.dist-info/RECORD"
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:

        def add(name, content, is_program):
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            wheel.writestr(entry, content, compresslevel=9)

        for name, content, is_program in members(tree, version, tag):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}\n")
            add(name, content, is_program)
        add(record, ("".join(lines) + f"{record},,\n").encode(), False)


def main():
    tree, version, tag, folder = sys.argv[1:]
    path = os.path.join(folder, f"stageprof-{version}-{tag}.whl")
    write(path, tree, version, tag)
    print(path)
    size = os.path.getsize(path)
    print(f"scripts/package: the wheel has {size:,} bytes of {MOST_BYTES:,}", file=sys.stderr)
    if size > MOST_BYTES:
        print("scripts/package: too many: CONTRIBUTING.md, Size", file=sys.stderr)


if __name__ == "__main__":
    main()
