# SPDX-License-Identifier: Apache-2.0
"""tags.py finds each kind of violation in a made tree, and none in a sound one."""

import os
import tempfile
import unittest

import tags

HEAD = f"# Rooms\n\n| `text.c` | a |\n\n{tags.SECTION}\n\n| file | reason |\n|---|---|\n"
MAIN = "| `main.c` | the entry of a program |\n"
TREE = {
    "trace/format.h": "struct sp_slot {\n\tint kind;\n};\nenum sp_kind { A };\n",
    "preload/low/pack.c": '#include "pack.h"\nstruct sp_slot *slot;\nstatic const struct row {\n} rows;\n',
    "preload/low/pack.h": "struct row;\n",
    "preload/low/pack.def": "ROW(1)\n",
    "analyzer/cli/main.c": "int main(void)\n{\n\treturn 0;\n}\n",
    "scripts/launcher/main.c": "int main(void)\n{\n\treturn 0;\n}\n",
    "scripts/launcher/probe.py": "",
    "analyzer/page/format.js": "",
    tags.DOCUMENT: HEAD + MAIN,
}


class Tags(unittest.TestCase):
    def check(self, **files):
        """The complaints of tags.py about the sound tree with these files."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**TREE, **files}.items():
                if text is not None:
                    path = os.path.join(root, name)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text)
            return tags.check(root)

    def found(self, begin, *words, **files):
        """One complaint, with this beginning and with these words."""
        said = self.check(**files)
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(begin), said)
        for word in words:
            self.assertIn(word, said[0])

    def test_sound(self):
        self.assertEqual(self.check(), [])

    def test_tag_of_another_file(self):
        for code in (
            "struct row {\n",
            "enum row { B };\n",
            "union row\n{\n",
            "struct __attribute__((packed, aligned(8))) row {\n",
            "#define ROW struct row { int a; }\n",
        ):
            self.found(
                "scripts/launcher/a.c:2: ",
                "row: this tag is defined at preload/low/pack.c:3 too; give one of them the name",
                **{"scripts/launcher/a.c": "\n" + code},
            )

    def test_tag_inside_a_function_and_twice_in_a_file(self):
        self.found(
            "analyzer/a.c:3: struct row: this tag",
            **{"analyzer/a.c": "void f(void)\n{\n\tstruct row {\n\t\tint a;\n\t} r;\n}\n"},
        )
        self.found(
            "trace/a.h:4: enum b: this tag is defined at trace/a.h:2 too",
            **{"trace/a.h": "#ifdef X\nenum b { C };\n#else\nenum b { D };\n#endif\n"},
        )

    def test_no_definition(self):
        code = "/* struct row { */\n// enum row {\nstruct row;\nstruct row *r = &(struct row){1};\n"
        text = 'const char *s = "struct row {", c = \'"\';\nstruct row f(void)\n{\n}\nstruct { int a; } b;\n'
        self.assertEqual(self.check(**{"analyzer/a.c": code + text}), [])

    def test_name_of_a_file(self):
        for name in ("analyzer/text/pack.c", "analyzer/text/pack.h", "analyzer/text/pack.def"):
            self.found(
                f"{name}:1: preload/low/pack.c has the same name: rename one", **{name: ""}
            )

    def test_row_of_the_document(self):
        said = self.check(**{tags.DOCUMENT: HEAD})
        self.assertEqual(len(said), 1)
        self.assertTrue(said[0].startswith("scripts/launcher/main.c:1: analyzer/cli/main.c has"))
        self.found(
            "docs/ARCHITECTURE.md:9: main.c has no reason",
            **{tags.DOCUMENT: HEAD + MAIN.replace("the entry of a program", "")},
        )
        self.found(
            "docs/ARCHITECTURE.md:10: pack.c does not stand twice: remove the row",
            **{tags.DOCUMENT: HEAD + MAIN + "| `pack.c` | why |\n"},
        )

    def test_no_sources(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertIn("no source file", tags.check(root)[0])


if __name__ == "__main__":
    unittest.main()
