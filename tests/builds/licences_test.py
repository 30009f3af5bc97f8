# SPDX-License-Identifier: Apache-2.0
"""licences.py finds each kind of violation in a made tree, and none in a sound one."""

import os
import tempfile
import unittest

import licences

OURS = "# " + licences.LICENCE + "\n"
ROWS = """| component | version | licence | how | found as |
|---|---|---|---|---|
| zstd | 1.5.4 | BSD-3-Clause | archive | `libzstd.a`, `libzstd.so.1` |
| libunwind | 1.6.2 | MIT | opened | `libunwind.so.8` |
| dygraphs | 2.2.1 | MIT | inside | `dygraphs/dygraph.min.js` |
"""
TREE = {
    "NOTICES.md": ROWS,
    "preload/CMakeLists.txt": OURS + "find_library(ZSTD_STATIC NAMES libzstd.a REQUIRED)\n",
    "preload/a.c": f'/* {licences.LICENCE} */\nx = dlopen("libunwind.so.8", RTLD_NOW);\n'
    'y = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);\n',
    "analyzer/CMakeLists.txt": OURS + "find_file(D dygraphs/dygraph.min.js PATHS /usr REQUIRED)\n",
    "scripts/run": "#!/bin/sh\n" + OURS,
    "scripts/notes.txt": "",
    "tests/CMakeLists.txt": OURS + "find_library(PNG NAMES png)\n",
    "build/x/a.c": "",
}


class Licences(unittest.TestCase):
    def found(self, needed=("libzstd.so.1",), **files):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**TREE, **files}.items():
                path = os.path.join(root, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(text)
            said = licences.check(root, needed, lambda names: ((n, "report:0") for n in names))
        return said

    def one(self, begin, *arguments, **files):
        said = self.found(*arguments, **files)
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(begin), said)

    def test_sound(self):
        self.assertEqual(self.found(), [])

    def test_no_licence(self):
        for name in ("preload/b.c", "trace/c.def", "analyzer/page.js", "tests/a.py", "tests/d.map"):
            self.one(f"{name}:1: no licence: begin the file", **{name: "x\n"})
        self.one("scripts/demo:1: no licence", **{"scripts/demo": "#!/bin/bash\n\n\n" + OURS})
        self.one("docs/CMakeLists.txt:1: no licence", **{"docs/CMakeLists.txt": ""})
        other = "# SPDX-License-Identifier: MIT\n"
        self.one("tests/a.sh:1: no licence", **{"tests/a.sh": other})

    def test_component_that_is_not_listed(self):
        module = OURS + "pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4>=1.9)\n"
        self.one("trace/CMakeLists.txt:2: liblz4 is used", **{"trace/CMakeLists.txt": module})
        self.one("report:0: liblz4.so.1 is used", ("libzstd.so.1", "liblz4.so.1"))
        source = f'/* {licences.LICENCE} */\n\nx = dlopen("liblz4.so.1", RTLD_NOW);\n'
        self.one("trace/b.c:3: liblz4.so.1 is used", **{"trace/b.c": source})
        style = OURS + "find_file(S other/style.css PATHS /usr/share REQUIRED)\n"
        self.one("trace/CMakeLists.txt:2: other/style.css", **{"trace/CMakeLists.txt": style})

    def test_component_that_is_used_no_more(self):
        row = "| lz4 | 1.9 | BSD | linked | `liblz4` |\n"
        self.one("NOTICES.md:6: nothing uses liblz4", **{"NOTICES.md": ROWS + row})

    def test_row_without_a_licence(self):
        rows = ROWS.replace("BSD-3-Clause", "")
        self.one("NOTICES.md:3: an empty cell", **{"NOTICES.md": rows})


if __name__ == "__main__":
    unittest.main()
