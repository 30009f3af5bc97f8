# SPDX-License-Identifier: Apache-2.0
"""layers.py finds each kind of violation in a made tree, and none in a sound one."""

import json
import os
import shutil
import subprocess
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

    def test_other_order_in_the_document(self):
        self.found(
            "tests/builds/layers.txt:4",
            "preload/high stands before preload/low in docs/ARCHITECTURE.md: keep",
            **{"docs/ARCHITECTURE.md": "| `high` |\n| `low` |\n| `text` |\n"},
        )

    def test_line_that_is_none(self):
        self.found(
            "tests/builds/layers.txt:11", "not a line of this table", "rom preload/low: trace"
        )


@unittest.skipUnless(shutil.which("cc") and shutil.which("nm"), "no cc, or no nm")
class Calls(unittest.TestCase):
    """Small programs, compiled: a source is the functions and variables that it defines, each with
    those that it uses."""

    def check(self, table="", built=True, headers=None, **sources):
        tree = {
            "preload/low/pack.c": "sp_pack",
            "preload/high/hook.c": "sp_hook sp_pack; sp_count",
            "analyzer/text/words.c": "sp_words",
        }
        tree.update({name.replace("__", "/") + ".c": text for name, text in sources.items()})
        with tempfile.TemporaryDirectory() as root:
            build = os.path.join(root, "build")
            for name, text in TREE.items():
                self.write(os.path.join(root, name), text)
            self.write(os.path.join(root, layers.TABLE), TABLE + table)
            commands = []
            for name, text in tree.items():
                path = os.path.join(root, name)
                self.write(path, "".join(map(self.function, text.split(";"))))
                commands.append({"file": path, "output": name.replace("/", "_") + ".o"})
                if built or name != "preload/low/pack.c":
                    self.compile(path, os.path.join(build, commands[-1]["output"]))
            self.write(os.path.join(build, "compile_commands.json"), json.dumps(commands))
            for name, text in (headers or {}).items():
                self.write(os.path.join(root, name), text)
            check = layers.Check(root, build)
            check.find_sources("preload")
            check.check_calls()
            return check.found

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def function(self, text):
        name, *used = text.split()
        calls = "".join(f" extern int {other}(void); {other}();" for other in used)
        return f"int {name}(void)\n{{{calls} return 0; }}\n"

    def compile(self, path, built):
        os.makedirs(os.path.dirname(built), exist_ok=True)
        subprocess.run(["cc", "-c", "-O0", "-o", built, path], check=True)

    def found(self, where, what, *arguments, **sources):
        said = self.check(*arguments, **sources)
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(where + ":"), said)
        self.assertIn(what, said[0])

    def test_sound(self):
        self.assertEqual(self.check(), [])

    def test_call_of_a_room_above(self):
        self.found(
            "preload/low/pack.c:2",
            "uses sp_count of preload/high/hook.c, and preload/low stands below preload/high: take",
            preload__low__pack="sp_pack sp_count",
            preload__high__hook="sp_hook; sp_count",
        )

    def test_call_of_a_room_that_no_include_reaches(self):
        self.found(
            "analyzer/text/words.c:2",
            "uses sp_pack of preload/low/pack.c",
            analyzer__text__words="sp_words sp_pack",
        )

    def test_circle_of_calls(self):
        circle = {
            "preload__low__pack": "sp_pack sp_frame",
            "preload__low__frame": "sp_frame sp_row",
            "preload__low__row": "sp_row sp_pack",
        }
        self.found(
            "preload/low/frame.c:2",
            "a circle of calls: preload/low/frame.c uses sp_row of preload/low/row.c, "
            "preload/low/row.c uses sp_pack of preload/low/pack.c, preload/low/pack.c uses sp_frame "
            "of preload/low/frame.c: move",
            **circle,
        )
        excused = "call preload/low/row.c: sp_p* # a table\n"
        self.assertEqual(self.check(excused, **circle), [])

    def test_short_circle_of_a_long_one(self):
        self.found(
            "preload/low/a.c:2",
            "sp_a of preload/low/a.c (3 files call each other in all): move",
            preload__low__a="sp_a sp_b",
            preload__low__b="sp_b sp_a sp_c",
            preload__low__c="sp_c sp_a",
        )

    def test_excuse_without_use(self):
        line = TABLE.count("\n") + 1
        excuse = "call preload/low/pack.c: sp_hook # a table\n"
        self.found(f"{layers.TABLE}:{line}", "needs no excuse for sp_hook: remove", excuse)

    def test_excuse_without_a_reason(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as table:
            table.write("call preload/low/pack.c: sp_hook\n")
            table.flush()
            ((number, said),) = layers.Table(table.name).problems
        self.assertEqual(number, 1)
        self.assertIn("add a # and the reason", said)

    def test_function_of_two_files(self):
        self.found(
            "preload/low/again.c:1",
            "sp_pack is defined in preload/low/pack.c too: rename",
            preload__low__again="sp_pack",
        )

    def test_header_of_another_file(self):
        inline = "static inline int f(void) { return sp_hook(1); }\n"
        own = "/* sp_hook(); */\nint sp_pack(void);\n" + inline
        self.assertEqual(self.check(headers={"preload/low/pack.h": own}), [])
        other = {"preload/low/pack.h": own + "int sp_hook(int (*f)(int));\n"}
        said = "declares sp_hook of preload/high/hook.c: declare it in the header of preload/high/hook"
        self.found("preload/low/pack.h:1", said, headers=other)
        variable = {"preload/low/pack.h": "extern int sp_count[2] SP_HIDDEN;\n"}
        self.found("preload/low/pack.h:1", "declares sp_count of", headers=variable)
        excused = "header preload/low/pack.h: sp_h* # a pair\n"
        self.assertEqual(self.check(excused, headers=other), [])

    def test_file_that_was_not_built(self):
        self.found("preload/low/pack.c:1", "no object file of it: build all", "", False)


if __name__ == "__main__":
    unittest.main()
