# SPDX-License-Identifier: Apache-2.0
"""plain_english.py finds each pattern in each kind of file of a made tree, and nothing in a sound
one."""

import os
import subprocess
import tempfile
import unittest

import plain_english

# At least one sentence for each pattern.
BAD = (
    ("clause as subject", "What a header claims is not believed."),
    ("clause as subject", "It ends here. Whether it is whole is asked later."),
    ("for as because", "The slots stay, for they are in a ring."),
    ("for as because", "The file is cut, for the last page is free."),
    ("what in the middle", "The copy is short: what the kernel reads is the rest of it."),
    ("of first", "Of many ranks, the late ones are shown."),
    ("pronoun first", "It is read before the file."),
    ("told", "The report is told of each."),
    ("tells", "The name tells which."),
    ("tells", "Tells which name it is."),
    ("tells", "The names tell them apart."),
    ("said", "The loss is not said to be one."),
    ("his", "The user names his folder."),
    ("old words", "The file is written anew."),
    ("old words", "The list is whole but for the last."),
    ("foretold", "The return is foretold wrongly."),
    ("behind", "The frame stands behind the block."),
    ("besides", "The checksum is kept besides."),
    ("whoever", "The slot is free for whoever takes it."),
    ("likewise", "The second pass reads likewise."),
    ("nor", "The name is not kept, nor is the path."),
    ("in vain", "The call was made in vain."),
    ("old words", "The file and the pages thereof stay."),
    ("microseconds", "The wait takes 100 us at least."),
    ("per cent", "The share is 90 % of the time."),
)
GOOD = (
    "The analyzer checks each length. Is that enough? What else could fail?",
    "What-ifs are ranges. The table has a row for the report, for each thread one.",
    "A wait of 100 µs is 90% of the time, because the queue is empty.",
    "`behind` and `told` are quoted words.",
)
FILES = {
    "a.c": "/* {} */\nint x;\n",
    "b.h": "int y; // {}\n",
    "c.def": "/*\n * {}\n */\n",
    "d.py": '"""{}"""\n',
    "e.py": "x = 1\n# {}\n",
    "f.sh": "# {}\ntrue\n",
    "g.1.in": '.TH A 1\n.SH NAME\n.PP\n{}\n',
    "g.md": "# Title\n\n- {}\n\n| a | b |\n|---|---|\n| {} | c |\n",
    "h": "#!/bin/bash\n# {}\n",
    "CMakeLists.txt": "# {}\n",
}
LITERAL = 'const char *x = "{}"\n'


def found(table, contents):
    """The complaints about a tree of these files."""
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["git", "init", "-q", root], check=True)
        for path, content in {"tests/builds/plain_english.txt": table, **contents}.items():
            path = os.path.join(root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        return plain_english.check(root)


def files_of(text):
    return {"src/" + path: form.replace("{}", text) for path, form in FILES.items()}


class PlainEnglish(unittest.TestCase):
    def test_every_pattern_has_an_example(self):
        for name, pattern, _ in plain_english.COMPILED:
            if name == "star":
                continue
            self.assertTrue(
                any(pattern.search(text) for other, text in BAD if other == name), pattern.pattern
            )

    def test_each_is_found_in_each_kind_of_file(self):
        for name, text in BAD:
            lines = found("check src\n", files_of(text))
            for path in FILES:
                self.assertTrue(
                    any(l.startswith(f"src/{path}:") and f": {name}: " in l for l in lines),
                    (path, name, lines),
                )

    def test_messages_are_read(self):
        for name, text in BAD:
            lines = found("check a.c\n", {"a.c": LITERAL.replace("{}", text)})
            self.assertEqual(
                any(f": {name}: " in line for line in lines), name not in plain_english.UNITS, lines
            )

    def test_a_sentence_over_lines(self):
        lines = found(
            "check a.c\n", {"a.c": "/*\n * The slots stay, for\n * they are in a ring.\n */\n"}
        )
        self.assertEqual(
            ["a.c:2: for as because: ', for they'; write 'because', or begin a new sentence"], lines
        )

    def test_a_star_without_a_blank(self):
        lines = found("check a.c\n", {"a.c": "/*\n * The slots stay\n *in a ring.\n */\n"})
        self.assertEqual(["a.c:3: star: '⁎'; put a blank after the star"], lines)

    def test_joined_literals(self):
        lines = found("check a.c\n", {"a.c": 'f("the first", "kept, for "\n\t"they count");\n'})
        self.assertEqual(1, len(lines))

    def test_sound_text_passes(self):
        for text in GOOD:
            self.assertEqual([], found("check src\n", files_of(text)), text)

    def test_code_is_not_read(self):
        contents = {
            "a.c": "int told = 1; /* A number. */\nchar behind = 'b';\n",
            "b.md": "```\ntold\n```\n\n    behind\n",
        }
        self.assertEqual([], found("check a.c\ncheck b.md\n", contents))

    def test_allowed_words(self):
        text = {"a.c": "/* The report is told. */\n"}
        self.assertEqual([], found("check a.c\nallow a.c: told | a title\n", text))
        self.assertIn(
            "remove the line", found("check a.c\nallow a.c: behind | a title\n", text)[-1]
        )

    def test_table(self):
        self.assertIn("no gone", found("check gone\n", {})[0])
        self.assertIn("not a line", found("chek a.c\ncheck a.c\n", {"a.c": "/* A. */\n"})[0])
        self.assertIn("no file is checked", found("", {})[0])


if __name__ == "__main__":
    unittest.main()
