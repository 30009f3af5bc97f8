# SPDX-License-Identifier: Apache-2.0
"""Man pages and completion against the programs' own --help, and completion in real shells."""

import os
import re
import shutil
import subprocess
import unicodedata
import unittest

import scene
from scene import BIN, REPORT, STAGEPROF, Terminal, clean_environment

PAGES = os.path.join(BIN, "man", "man1")
COMPLETION = os.path.join(BIN, "completion.bash")
FISH = os.path.join(BIN, "completion.fish")
ZSH = os.path.join(BIN, "completion.zsh")


CHINESE = re.compile("[\u4e00-\u9fff]")
CODES = re.compile(r"\bSP\d{3}\b")


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def options_of(text):
    """Long options that begin an entry of a help or of a rendered page."""
    found = set()
    for line in text.splitlines():
        head = re.match(r"\s+((?:-\S(?:\s\w+)?, )?--[a-z][a-z_-]*)", line)
        if head:
            found.add(re.search(r"--[a-z_-]+", head.group(1)).group())
    return found


class Pages(scene.Case):
    def rendered(self, name, folder="man1"):
        if not shutil.which("man"):
            raise unittest.SkipTest("no man")
        done = self.call(
            "man",
            "--warnings",
            "-P",
            "cat",
            "-l",
            os.path.join(os.path.dirname(PAGES), folder, name),
            env=clean_environment(MANWIDTH="100", MAN_KEEP_FORMATTING="", LC_ALL="C.UTF-8"),
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)

    def help_of(self, *command, language="en"):
        env = clean_environment(ARGP_HELP_FMT="rmargin=200", STAGEPROF_LANG=language)
        done = self.call(*command, "--help", env=env)
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def test_report(self):
        page, told = self.rendered("stageprof-report.1"), self.help_of(REPORT)
        self.assertGreater(len(options_of(told)), 15)
        self.assertEqual(options_of(page), options_of(told))
        with open(os.path.join(scene.ROOT, "analyzer", "views", "views.def")) as file:
            views = re.findall(r"^SP_VIEW\((\w+)", file.read(), re.M)
        self.assertGreater(len(views), 10)
        with open(os.path.join(scene.ROOT, "analyzer", "exporters", "exporters.def")) as file:
            views += re.findall(r"^SP_EXPORTER\((\w+)", file.read(), re.M)
        more = re.search(r"(?m)^  more, .*?: ([\w, \n]+)\n\n", told)[1]
        shown = told[told.index("Views:") : told.index("\nexport")]
        self.assertLessEqual(len(re.findall(r"(?m)^  \w+: ", shown)), 14)
        for view in views:
            self.assertTrue(f"  {view}: " in told or view in re.split(r",\s+", more.strip()), view)
            self.assertRegex(page, rf"(?m)^       {view}\b")

    def test_launcher(self):
        page = self.rendered("stageprof.1")
        told = options_of(self.help_of(STAGEPROF, "run")) | options_of(
            self.help_of(STAGEPROF, "doctor")
        )
        told |= options_of(self.help_of(STAGEPROF, "kernel"))
        self.assertGreater(len(told), 15)
        # Help and version, of all three commands, stand in a sentence.
        self.assertEqual(options_of(page) | {"--help", "--usage", "--version"}, told)
        for variable in re.findall(r"STAGEPROF_[A-Z]+", self.help_of(STAGEPROF, "run")):
            if variable != "STAGEPROF_NAME":
                self.assertIn(f"({variable})", page)
        for check in re.findall(r"^  (\w+): ", self.help_of(STAGEPROF, "doctor"), re.M):
            self.assertRegex(page, rf"(?m)^       {check}\b")
        with open(os.path.join(scene.ROOT, "scripts", "launcher", "commands.def")) as file:
            commands = re.findall(r"^SP_COMMAND\((\w+)", file.read(), re.M)
        self.assertGreater(len(commands), 2)
        for command in commands:
            self.assertRegex(self.help_of(STAGEPROF), rf"(?m)^  {command}\b")
            self.assertRegex(page, rf"(?m)^       stageprof {command}\b")
            self.assertEqual(self.call(STAGEPROF, command, "--help").returncode, 0)
        done = self.call(STAGEPROF, "run", "no-such-program")
        self.assertIn(re.search(r"\[(SP\d+)\]", done.stderr).group(1), page)


    def test_chinese_help(self):
        for command in ([REPORT], [STAGEPROF], [STAGEPROF, "run"], [STAGEPROF, "doctor"]):
            told = self.help_of(*command, language="zh_CN")
            self.assertEqual(options_of(told), options_of(self.help_of(*command)))
            self.assertRegex(told, r"^用法：stageprof")
            self.check_chinese(told)
        self.assertEqual(self.call(REPORT, "--lang=zh_CN", "--help").stdout[:3], "用法：")
        # Words after the command are the command's.
        done = self.call(
            *[STAGEPROF, "run", "-q", "--", "printf", "%s", "--help"],
            env=clean_environment(STAGEPROF_LANG="zh_CN"),
        )
        self.assertEqual(done.stdout, "--help")

    def check_chinese(self, told):
        """Lines fit a terminal, and the text of no option and no entry is left in English."""
        self.assertLessEqual(max(map(width, told.splitlines())), 80)
        for entry in re.split(r"\n(?= {1,6}(?:-\S,|--|\w+: ))", told)[1:]:
            text = re.sub(r"^ +(-\S, )?(--\S+|\w+:)|STAGEPROF_\w+:", "", entry)
            words = re.findall(r"[a-z]{2,}", text)
            self.assertTrue(CHINESE.search(text) or len(words) < 5, entry)

    def test_chinese_pages(self):
        for name in ("stageprof.1", "stageprof-report.1"):
            page, english = self.rendered(name, "zh_CN/man1"), self.rendered(name)
            self.assertEqual(options_of(page), options_of(english))
            self.assertEqual(set(CODES.findall(page)), set(CODES.findall(english)))
            self.assertNotRegex(page, r"(?m)^(OPTIONS|EXIT STATUS|DIAGNOSTICS)$")
            self.assertGreater(len(CHINESE.findall(page)), 1000)


class Completion(scene.Case):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "run.zst"))
        path = BIN + ":" + os.environ["PATH"]
        env = clean_environment(TERM="dumb", PS1="$ ", PATH=path, INPUTRC="/dev/null")
        self.shell = Terminal(self, ["bash", "--norc", "--noprofile", "-i"], env=env, columns=200)
        self.shell.send(f"set +o histexpand; source {COMPLETION}; PS1='> '; echo ready $((1+1))\n")
        self.shell.expect("ready 2")
        self.shell.expect("> ")

    def completed(self, typed):
        """The line after TAB: the line becomes an argument of echo and runs."""
        self.shell.send(typed + "\t")
        # ^A and ^E go to the line's ends: the completed words come back in brackets.
        self.shell.send("\x01echo '<\x05>' $?\n")
        self.shell.expect(r"\n<")
        return self.shell.expect(r"> \d+").rsplit(">", 1)[0].rstrip()

    def test_words(self):
        for typed, wanted in (
            ("stageprof do", "stageprof doctor"),
            ("stageprof ru", "stageprof run"),
            ("stageprof run --outp", "stageprof run --output="),
            ("stageprof run --qui", "stageprof run --quiet"),
            ("stageprof run --mode=w", "stageprof run --mode=write"),
            ("stageprof run --quiet -- stageprof-rep", "stageprof run --quiet -- stageprof-report"),
            ("stageprof doctor --format=j", "stageprof doctor --format=json"),
            ("stageprof report work", "stageprof report workers"),
            ("stageprof-report work", "stageprof-report workers"),
            ("stageprof-report --fo", "stageprof-report --fo"),  # --format, --force or --follow
            ("stageprof-report --for", "stageprof-report --for"),
            ("stageprof-report --forma", "stageprof-report --format="),
            ("stageprof-report --format=j", "stageprof-report --format=json"),
            ("stageprof-report workers --so", "stageprof-report workers --sort="),
            ("stageprof-report export perf", "stageprof-report export perfetto"),
            ("stageprof report export fol", "stageprof report export folded"),
            ("stageprof-report run.z", "stageprof-report run.zst/"),
            ("stageprof-report workers run.z", "stageprof-report workers run.zst/"),
        ):
            with self.subTest(typed=typed):
                self.assertEqual(self.completed(typed), wanted)

    def test_fish(self):
        if not shutil.which("fish"):
            raise unittest.SkipTest("no fish")
        for typed, wanted in (
            ("stageprof do", "doctor"),
            ("stageprof run --outp", "--output"),
            ("stageprof run --mode=w", "--mode=write"),
            ("stageprof doctor --format=j", "--format=json"),
            ("stageprof report work", "workers"),
            ("stageprof-report --forma", "--format"),
            ("stageprof-report -f j", "json"),
            ("stageprof-report export perf", "perfetto"),
            ("stageprof report export sql", "sqlite"),
            ("stageprof-report workers run.z", "run.zst/"),
        ):
            with self.subTest(typed=typed):
                command = "source $argv[1]; complete -C $argv[2]"
                done = self.call("fish", "--no-config", "-c", command, FISH, typed)
                offered = [line.split("\t")[0] for line in done.stdout.splitlines()]
                self.assertEqual((offered, done.stderr), ([wanted], ""))

    def test_zsh(self):
        if not shutil.which("zsh"):
            raise unittest.SkipTest("no zsh")
        functions = os.path.join(self.folder, "functions")
        os.mkdir(functions)
        os.symlink(ZSH, os.path.join(functions, "_stageprof"))
        path = BIN + ":" + os.environ["PATH"]
        env = clean_environment(TERM="dumb", PS1="> ", PATH=path, HOME=self.folder)
        self.shell = Terminal(self, ["zsh", "-f", "-i"], env=env, columns=200)
        self.shell.send(
            f"unsetopt zle_bracketed_paste prompt_cr prompt_sp; fpath=({functions} $fpath);"
            "autoload -U compinit; compinit -D; bindkey -e; PS1='> '; echo ready $((1+1))\n"
        )
        self.shell.expect("ready 2")
        self.shell.expect("> ")
        # zsh takes the suffix of a whole word ("=", "/") back at the next key.
        for typed, wanted in (
            ("stageprof do", "stageprof doctor"),
            ("stageprof run --outp", "stageprof run --output"),
            ("stageprof run --mode=w", "stageprof run --mode=write"),
            ("stageprof doctor --format=j", "stageprof doctor --format=json"),
            ("stageprof report work", "stageprof report workers"),
            ("stageprof-report --forma", "stageprof-report --format"),
            ("stageprof-report --format=j", "stageprof-report --format=json"),
            ("stageprof-report export perf", "stageprof-report export perfetto"),
            ("stageprof report export fol", "stageprof report export folded"),
            ("stageprof-report workers run.z", "stageprof-report workers run.zst"),
        ):
            with self.subTest(typed=typed):
                self.assertEqual(self.completed(typed), wanted)

    def test_offered_is_taken(self):
        """Every option offered, and every value of one, is one that the program knows."""
        with open(COMPLETION) as file:
            text = file.read()
        offered = re.findall(
            r"--[a-z-]+=?", re.search(r"options='([^']*--format[^']*)'", text).group(1)
        )
        self.assertGreater(len(offered), 15)
        known = options_of(self.call(REPORT, "--help").stdout)
        self.assertEqual({option.rstrip("=") for option in offered} | {"--usage"}, known)
        for option, values in (
            ("--format", "table json csv md"),
            ("--color", "auto always never"),
        ):
            for value in values.split():
                done = self.call(REPORT, f"{option}={value}", "no-such-run.zst")
                self.assertEqual(done.returncode, 1, done.stderr)
        with open(os.path.join(scene.ROOT, "analyzer", "views", "views.def")) as file:
            table = file.read()
        rows = re.findall(r"(?m)^SP_VIEW_BY\(\w+, (\w+), (\w+)", table)
        rows += re.findall(r"(?m)^SP_BY\((\w+), (\w+)", table)
        self.assertEqual(
            set(re.search(r"--by\) echo ([\w ]+) ;;", text)[1].split()), {word for _, word in rows}
        )
        for view, word in rows:
            done = self.call(REPORT, view, f"--by={word}", "no-such-run.zst")
            self.assertEqual(done.returncode, 1, done.stderr)


if __name__ == "__main__":
    scene.main()
