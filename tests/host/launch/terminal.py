# SPDX-License-Identifier: Apache-2.0
"""Colours and widths of stageprof-report: on a terminal, in a pipe, with names in Chinese."""

import os
import unicodedata

import scene
from scene import PYTHON, REPORT, Terminal, clean_environment

BOLD = "\x1b["
NAMES = ("训练一步", "плёнка", "ascii", "데이터", "x\u0323y")


def columns_of(text):
    """Columns of a terminal by the Unicode tables that Python brings, not by ours."""
    total = 0
    for c in text:
        if unicodedata.combining(c):
            continue
        total += 2 if unicodedata.east_asian_width(c) in "WF" else 1
    return total


class Case(scene.Case):
    @classmethod
    def setUpClass(cls):
        cls.run_folder = scene.tempfile.mkdtemp(prefix="stageprof-launch-")
        cls.addClassCleanup(scene.shutil.rmtree, cls.run_folder)
        with open(os.path.join(cls.run_folder, "模块.py"), "w", encoding="utf-8") as file:
            for name in NAMES:
                file.write(f"def {name}(): open('/etc/passwd').read()\n")
        functions = ",".join(f"模块:{name}" for name in NAMES)
        env = clean_environment(
            LC_ALL="C.UTF-8", LD_PRELOAD=scene.LIBRARY, STAGEPROF_FUNCTIONS=functions
        )
        # The interpreter may read no other file with a long name.
        long_name = os.path.join(cls.run_folder, "x" * 120, "y" * 60)
        os.mkdir(os.path.dirname(long_name))
        with open(long_name, "w") as file:
            file.write("z")
        call = f"open({long_name!r}).read()\n" + (
            "import 模块\nfor name in sorted(vars(模块)):\n if name[0] != '_': vars(模块)[name]()"
        )
        scene.subprocess.run([PYTHON, "-c", call], cwd=cls.run_folder, env=env, check=True)
        cls.trace = os.path.join(cls.run_folder, "run.zst")

    def on_terminal(self, *options, columns=100, **env):
        """The output on a terminal of so many columns, without carriage returns."""
        full = clean_environment(**{"TERM": "xterm", **env})
        terminal = Terminal(
            self,
            ["sh", "-c", 'read go; exec "$@"', "sh", REPORT, *options, self.trace],
            columns,
            full,
        )
        terminal.send("\n")
        return terminal.rest().replace("\r\n", "\n").lstrip("\n")

    def piped(self, *options, **env):
        done = self.call(REPORT, *options, self.trace, env=clean_environment(**env))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


def drawn(text, columns):
    """The lines that a terminal of so many columns shows; the last column wraps late."""
    lines, row, column = [[]], 0, 0
    for c in text:
        if c == "\r":
            column = 0
        elif c == "\n":
            row += 1
        else:
            if column == columns:
                row, column = row + 1, 0
            while row >= len(lines):
                lines.append([])
            lines[row] += [" "] * (column + 1 - len(lines[row]))
            lines[row][column] = c
            column += 1
        while row >= len(lines):
            lines.append([])
    return ["".join(line).rstrip() for line in lines]


class ProgressBars(scene.Case):
    """A program may leave a bar without a line's end: the card begins in a line of its own."""

    CALL = "import sys; open('/etc/passwd').read(); sys.stderr.write({!r})"

    def command(self, text):
        return [scene.STAGEPROF, "run", "--", PYTHON, "-c", self.CALL.format(text)]

    def test_on_terminal(self):
        for text in ("\rstep 9 [##]", "x" * 80, "y" * 79, "done\n", ""):
            env = clean_environment(TERM="xterm", NO_COLOR="1")
            terminal = Terminal(self, self.command(text), 80, env)
            lines = drawn(terminal.rest(), 80)
            first = [i for i, line in enumerate(lines) if line.startswith("verdict ")]
            self.assertEqual(len(first), 1, lines)
            self.assertEqual(lines[: first[0]], [text.strip()] if text else [], text)

    def test_in_file(self):
        for text in ("\rstep 9 [##]", "done\n", ""):
            path = os.path.join(self.folder, "errors")
            with open(path, "w") as file:
                scene.subprocess.run(
                    self.command(text), cwd=self.folder, env=clean_environment(), stderr=file
                )
            with open(path, newline="") as file:
                got = file.read()
            end = "" if text.endswith("\n") or not text else "\n"
            self.assertTrue(got.startswith(text + end + "verdict "), got)


class Colours(Case):
    def test_terminal(self):
        self.assertIn(BOLD, self.on_terminal("stages"))
        self.assertNotIn(BOLD, self.on_terminal("stages", NO_COLOR="1"))
        self.assertIn(BOLD, self.on_terminal("stages", NO_COLOR=""))
        self.assertNotIn(BOLD, self.on_terminal("stages", TERM="dumb"))
        self.assertNotIn(BOLD, self.on_terminal("stages", "--color=never"))
        self.assertIn(BOLD, self.on_terminal("stages", "--color=always", NO_COLOR="1"))

    def test_pipe(self):
        self.assertNotIn(BOLD, self.piped("stages"))
        self.assertIn(BOLD, self.piped("stages", "--color=always"))
        self.assertIn(BOLD, self.piped("stages", CLICOLOR_FORCE="1"))
        self.assertNotIn(BOLD, self.piped("stages", CLICOLOR_FORCE="1", NO_COLOR="1"))
        self.assertNotIn(BOLD, self.piped("stages", "--format=json", "--color=always"))


class Widths(Case):
    def widest(self, text):
        return max(columns_of(line) for line in text.splitlines())

    def test_terminal(self):
        # Numbers are never cut: names give way.
        narrow, wide = (self.on_terminal("files", NO_COLOR="1", columns=n) for n in (140, 400))
        self.assertLessEqual(self.widest(narrow), 140)
        self.assertGreater(self.widest(wide), 140)
        self.assertIn("...", narrow)

    def test_columns_and_option(self):
        for n in (140, 170):
            self.assertLessEqual(self.widest(self.piped("files", COLUMNS=str(n))), n)
            self.assertLessEqual(self.widest(self.piped("files", f"--width={n}", COLUMNS="300")), n)
        everything = self.piped("files", "--width=0", "--limit=all", "--all")
        self.assertRegex(everything, r"(?m)^/\S*/模块\.py  ")

    def test_wide_characters(self):
        """The numbers of every row end in the same column, whatever the name and the locale."""
        for env in ({"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}, {"LANG": "zh_CN.UTF-8"}):
            rows = self.piped("ranges", STAGEPROF_LANG="en", **env).splitlines()
            head = [row for row in rows if row.startswith("range ")][0]
            named = [row for row in rows if row.split("  ")[0] in NAMES]
            self.assertEqual(len(named), len(NAMES), rows)
            for row in named:
                before = row[: row.rindex("%")]
                self.assertEqual(columns_of(before), head.index("share") + len("share") - 1, row)

    def test_cut_in_the_middle(self):
        """A path that does not fit loses its middle, on a character's boundary."""
        folder = os.path.join(self.run_folder, "数据" * 40)
        os.mkdir(folder)
        with open(os.path.join(folder, "图像.bin"), "wb") as file:
            file.write(b"x")
        env = clean_environment(
            LC_ALL="C.UTF-8", LD_PRELOAD=scene.LIBRARY, STAGEPROF_OUTPUT="cut.zst"
        )
        read = f"open({os.path.join(folder, '图像.bin')!r}).read()"
        self.assertEqual(self.call(PYTHON, "-c", read, cwd=self.run_folder, env=env).returncode, 0)
        for width in range(140, 153):
            cut = os.path.join(self.run_folder, "cut.zst")
            done = self.call(REPORT, "files", "--limit=all", f"--width={width}", cut)
            rows = [row for row in done.stdout.splitlines() if "图像.bin" in row]
            self.assertEqual(len(rows), 1)
            self.assertIn("...", rows[0])
            self.assertLessEqual(columns_of(rows[0]), width)


if __name__ == "__main__":
    scene.main()
