# SPDX-License-Identifier: Apache-2.0
"""format.py finds each kind of violation in a made tree, and none in a sound one."""

import os
import shutil
import tempfile
import unittest

import format

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LONG = "word " * 30
TREE = {
    format.EXCEPTIONS: "# why\ntable.def\n",
    "table.def": "ROW(" + LONG + ")\n",
    "sound.c": "int f(void)\n{\n\treturn 0;\n}\n",
    "sound.py": f'print("{LONG}")\nx = """\n{LONG}\n"""\n',
    "sound.md": f"| {LONG} |\n|---|\n\n    {LONG}\n\n[{LONG}](docs/a.md)\n\n```\n{LONG}\n```\n",
    "sound.sh": f'echo "{LONG}"\n',
}


class Format(unittest.TestCase):
    def found(self, program=None, **tree):
        with tempfile.TemporaryDirectory() as root:
            shutil.copy(os.path.join(ROOT, ".clang-format"), root)
            for name, text in {**TREE, **tree}.items():
                path = os.path.join(root, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(text)
            return format.check(root, program)

    def one(self, begin, **tree):
        said = self.found(**tree)
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(begin), said)

    def test_sound(self):
        self.assertEqual(self.found(), [])

    def test_wide_lines(self):
        self.one("a.py:1: 1", **{"a.py": f"# {LONG}\n"})
        self.one("a.py:3: 1", **{"a.py": f'def f():\n    """Short.\n    {LONG}"""\n'})
        self.one("a.py:1: 1", **{"a.py": "x = [" + "1, " * 40 + "]\n"})
        self.one("a.md:1: 1", **{"a.md": LONG + "\n"})
        self.one("a.sh:2: 1", **{"a.sh": f'\nf {LONG} "word"\n'})
        self.one("docs/CMakeLists.txt:1: 1", **{"docs/CMakeLists.txt": f"set(a {LONG})\n"})
        self.one("b.def:1: 1", **{"b.def": f"ROW({LONG})\n"})

    def test_end_of_a_comment(self):
        self.assertEqual(self.found(**{"a.c": "/*\n * Text.\n */\n/* One\n * two. */\n"}), [])
        self.one("a.c:2: the comment ends", **{"a.c": "/* Text.\n */\n"})
        self.one("a.h:2: the comment ends", **{"a.h": "int a; /* text \\\n\t*/\n"})

    def test_the_hundredth_column(self):
        self.assertEqual(self.found(**{"a.def": "a " * 50 + "\n"}), [])
        self.one("a.def:1: 101 columns", **{"a.def": "a " * 50 + "b\n"})
        self.one("a.def:1: 101 columns", **{"a.def": "\t" + "a " * 46 + "b\n"})
        self.one("a.def:1: 102 columns", **{"a.def": "\u4e00 " * 34 + "\n"})

    def test_exception_that_is_none(self):
        self.one("tests/builds/format.txt:2: table.def has no wide", **{"table.def": "ROW(a)\n"})
        excused = "# why\ntable.def\ngone.def\n"
        self.one("tests/builds/format.txt:3: there is no gone", **{format.EXCEPTIONS: excused})

    def test_layout_of_c(self):
        program = format.clang_format()
        if not program:
            self.skipTest("no clang-format 14")
        self.assertEqual(self.found(program), [])
        said = self.found(program, **{"a.c": "int f(void)\n{\n    return  0;\n}\n"})
        self.assertTrue(said and all(line.startswith("a.c:") for line in said), said)
        self.assertIn("clang-format -i a.c", said[0])


if __name__ == "__main__":
    unittest.main()
