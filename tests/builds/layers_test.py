# SPDX-License-Identifier: Apache-2.0
"""layers.py finds each kind of violation in a made tree, and none in a sound one."""

import os
import tempfile
import unittest

import layers

TABLE = """
room trace:
room preload/low: trace
room preload/high: trace preload/low
room analyzer/text:
also analyzer/text/words.c: preload/low/table.def
generated made:
data analyzer/html:
only zstd.h: preload/low/pack.c
circle: preload/high/egg preload/high/hen
"""
TREE = {
    "trace/format.h": "#include <stdint.h>\n",
    "preload/low/pack.c": '#include "trace/format.h"\n#include <zstd.h>\n',
    "preload/low/pack.h": "",
    "preload/low/table.def": "",
    "preload/high/hook.c": '# include "preload/low/pack.h"\n',
    "preload/high/egg.h": '#include "preload/high/hen.h"\n',
    "preload/high/hen.h": "",
    "preload/high/hen.c": '#include "preload/high/egg.h"\n',
    "analyzer/text/words.c": '#include "made/words.h"\n#include "preload/low/table.def"\n',
    "analyzer/html/page.js": "",
    "docs/ARCHITECTURE.md": "| `low` | a |\n| `high` | b |\n| `text` | c |\n",
}


class Layers(unittest.TestCase):
    def check(self, table="", without=None, **files):
        """The complaints of layers.py about the sound tree after these changes; a name's `__` is a
        slash."""
        lines = [line for line in (TABLE + table).split("\n") if line != without]
        with tempfile.TemporaryDirectory() as root:
            tree = {**TREE, **files, layers.TABLE: "\n".join(lines)}
            for name, text in tree.items():
                if text is not None:
                    path = os.path.join(root, name)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w") as file:
                        file.write(text)
            return layers.Check(root).run()

    def found(self, where, what, *arguments, **options):
        """One complaint, at this place and with these words."""
        said = self.check(*arguments, **options)
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(where + ":"), said)
        self.assertIn(what, said[0])

    def test_sound(self):
        self.assertEqual(self.check(), [])

    def test_include_that_is_not_allowed(self):
        self.found(
            "preload/low/pack.h:2",
            "preload/low may not include analyzer/text: move the code",
            **{"preload/low/pack.h": '\n#include "analyzer/text/words.c"\n'},
        )

    def test_debt_is_allowed_until_it_is_paid(self):
        up = {"preload/low/pack.c": '#include <zstd.h>\n#include "preload/high/hook.c"\n'}
        said = self.check("debt preload/low: preload/high", **{**up, "preload/high/hook.c": ""})
        self.assertEqual(said, [])
        self.found(
            "tests/builds/layers.txt:11",
            "includes preload/high no more",
            "debt preload/low: preload/high",
        )

    def test_include_that_is_not_from_the_root(self):
        self.found(
            "preload/high/hook.c:1",
            "write an include from the root",
            **{"preload/high/hook.c": '#include "egg.h"\n'},
        )

    def test_unknown_folder(self):
        self.found(
            "preload/new/a.c:1", "add a line `room preload/new: ROOMS`", **{"preload/new/a.c": ""}
        )
        self.found("analyzer/css:1", "no room", **{"analyzer/css/page.css": ""})
        self.found("analyzer/a.c:1", "add a line `room analyzer: ROOMS`", **{"analyzer/a.c": ""})

    def test_empty_room(self):
        self.found(
            "tests/builds/layers.txt:5",
            "holds no source file",
            **{"analyzer/text/words.c": None, "analyzer/text/a.md": ""},
        )

    def test_full_room(self):
        files = {f"analyzer/text/file{number}.c": "" for number in range(39)}
        self.assertEqual(self.check(**files), [])
        files["analyzer/text/one_more.def"] = ""
        self.found("tests/builds/layers.txt:5", "41 source files, 40 are the most", **files)

    def test_room_above_its_user(self):
        self.found(
            "tests/builds/layers.txt:11",
            "may not use preload/last",
            "room preload: preload/last",
            **{"preload/a.c": ""},
        )

    def test_circle_of_rooms(self):
        said = self.check(**{"preload/low/pack.h": '#include "preload/high/hen.h"\n'})
        self.assertTrue(
            any("a circle of rooms: preload/high preload/low, by" in line for line in said), said
        )

    def test_circle_of_files(self):
        self.found(
            "preload/high/egg.h:1",
            "declare it",
            without="circle: preload/high/egg preload/high/hen",
        )
        self.found("tests/builds/layers.txt:10", "no circle", **{"preload/high/hen.c": ""})
        three = {"preload/high/hen.h": '#include "preload/high/hook.c"\n'}
        three["preload/high/hook.c"] = (
            '#include "preload/low/pack.h"\n#include "preload/high/egg.h"\n'
        )
        said = self.check(**three)
        self.assertIn(
            "a circle of files: preload/high/egg preload/high/hen preload/high/hook,", said[0]
        )

    def test_header_of_one_file(self):
        self.found(
            "preload/high/hook.c:1",
            "only preload/low/pack.c may",
            **{"preload/high/hook.c": "#include <zstd.h>\n"},
        )
        self.found(
            "tests/builds/layers.txt:9", "does not include <zstd.h>", **{"preload/low/pack.c": ""}
        )

    def test_room_without_a_sentence(self):
        self.found(
            "tests/builds/layers.txt:3",
            "no row",
            **{"docs/ARCHITECTURE.md": "| `high` |\n| `text` |\n"},
        )

    def test_line_that_is_none(self):
        self.found(
            "tests/builds/layers.txt:11", "not a line of this table", "rom preload/low: trace"
        )


if __name__ == "__main__":
    unittest.main()
