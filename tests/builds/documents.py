# SPDX-License-Identifier: Apache-2.0
"""documents.py SOURCE: the documents name what the tables have, and nothing else.

Checked are settings, views, frameworks, exporters, passes and metrics against their tables; links,
paths in backquotes and headings that a document or a comment cites; and numbers of things that a
table counts. Prints FILE:LINE: what is wrong. Exit status: 1 where something is wrong.
documents_test.py shows in made trees that each check finds what it is for."""

import glob
import os
import re
import sys

REFERENCE = "docs/REFERENCE.md"
FRAMEWORKS = "docs/FRAMEWORKS.md"
ARCHITECTURE = "docs/ARCHITECTURE.md"
EXPORTS = "docs/EXPORTS.md"
ENTRY = r"^{}\(\s*(\w+)"
# Words that a number may stand before: the table that has it, and the macro of its lines.
COUNTED = {
    "views": ("analyzer/views/views.def", "SP_VIEW"),
    "exporters": ("analyzer/exporters/exporters.def", "SP_EXPORTER"),
    "settings": ("preload/settings/config.def", "SP_SETTING"),
    "frameworks": ("trace/frameworks.def", "SP_FRAMEWORK"),
    "doubts": ("analyzer/verdict/doubt.def", "SP_DOUBT"),
    "what-ifs": ("analyzer/verdict/whatif.def", "SP_WHAT_IF"),
}
GIVES = "STEPS WAITS PHASES TRANSFERS COMPILATION CHECKPOINTS MODULES OPERATORS".split()
FOLDERS = "analyzer|cmake|docs|packaging|preload|scripts|tests|trace"
# Files of the examples in CONTRIBUTING.md, which makes them.
TEST = "documents_test.py"  # cites what is not there
MADE = re.compile(r"notes\.|/hooks_jxl\.c$")
CITED = re.compile(r'\b((?:docs/)?(?:\w+/)*[A-Z_]+\.md)\]?(?:\([^)]*\))?,\s+(?:\* )?"([^"`]+)"')


class Tree:
    def __init__(self, root):
        self.root, self.found = root, []

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def text(self, path):
        if not self.exists(path):
            return ""
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def complain(self, path, text, at=0, says=""):
        self.found.append(f"{path}:{text.count(chr(10), 0, at) + 1}: {says}")

    def documents(self):
        patterns = "*.md", "docs/*.md", "docs/*/*.md"
        found = [path for pattern in patterns for path in glob.glob(pattern, root_dir=self.root)]
        return sorted(found)

    def entries(self, path, macro):
        names = re.findall(ENTRY.format(macro), self.text(path), re.M)
        if not names:
            self.complain(path, "", says=f"no line of {macro}: this table is checked")
        return names


def has_word(text, word):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)


def check_settings(tree):
    table = "preload/settings/config.def"
    settings = re.findall(r'^SP_SETTING\(\w+, "(\w+)"', tree.text(table), re.M)
    reference = tree.text(REFERENCE)
    for name in settings:
        # The run is handed on in it; nobody sets it by hand.
        if name != "STAGEPROF_RUN" and not has_word(reference, name):
            tree.complain(REFERENCE, "", says=f"no {name}, which {table} has")
    # The report's own, and the one that the recorder sets for children.
    known = {*settings, "STAGEPROF_LANG", "STAGEPROF_SAMPLER"}
    for path in ("README.md", REFERENCE):
        text = tree.text(path)
        for match in re.finditer(r"\bSTAGEPROF_[A-Z]+\b", text):
            if match[0] not in known:
                tree.complain(path, text, match.start(), f"{match[0]} is no setting")


def check_views(tree):
    for path, table, macro in (
        (REFERENCE, "analyzer/views/views.def", "SP_VIEW"),
        (EXPORTS, "analyzer/exporters/exporters.def", "SP_EXPORTER"),
    ):
        text = tree.text(path)
        for name in tree.entries(table, macro):
            if not has_word(text, name):
                tree.complain(path, "", says=f"no {macro[3:].lower()} {name}, which {table} has")


def framework_rows(text):
    """A row for each framework: its title, and yes, some or - for each part that it gives."""
    flat = re.sub(r"\n\t", "", text)
    for line in re.findall(r"^SP_FRAMEWORK\((.*)", flat, re.M):
        pieces = line.split('"')
        gives = "".join(pieces[6:])
        row = f"| {pieces[1]} |"
        for part in GIVES:
            if re.search(rf"SP_GIVES_(ALL|{part})", gives):
                row += " yes |"
            else:
                row += " some |" if f"SP_GIVES_SOME_{part}" in gives else " - |"
        yield row


def check_frameworks(tree):
    rows = list(framework_rows(tree.text("trace/frameworks.def")))
    nothing = " - |" * len(GIVES)
    text = tree.text(FRAMEWORKS)
    listed = re.findall(r"^\| [^|]+ \|(?: (?:yes|some|-) \|){8}$", text, re.M)
    named = re.search(r"^Only named: ([^.]*)\.$", text, re.M)  # of which nothing is recorded
    titles = " ".join(named[1].split()).split(", ") if named else []
    listed += [f"| {title} |{nothing}" for title in titles]
    for row in rows:
        if row not in listed:
            tree.complain(FRAMEWORKS, "", says=f"no row '{row}'")
    for row in listed:
        if row not in rows:
            tree.complain(FRAMEWORKS, "", says=f"trace/frameworks.def has no such row: '{row}'")


def check_passes(tree):
    table = "analyzer/report/passes.def"
    text = tree.text(ARCHITECTURE)
    listed = re.findall(r"^\| (\w+) \|", text.partition("| pass |")[2].partition("\n\n")[0], re.M)
    passes = ["definitions", *tree.entries(table, "SP_PASS")]
    for name in passes:
        if name not in listed:
            tree.complain(ARCHITECTURE, "", says=f"the table of passes lacks {name} of {table}")
    for name in listed:
        if name not in passes:
            tree.complain(ARCHITECTURE, "", says=f"{table} has no pass {name}")


def check_counts(tree):
    counts = {}
    for word, (table, macro) in COUNTED.items():
        counts[word] = len(tree.entries(table, macro)) if tree.exists(table) else None
    pattern = re.compile(rf"(?<![-\w.,])(\d+) ({'|'.join(COUNTED)})\b")
    for path in tree.documents():
        text = tree.text(path)
        for match in pattern.finditer(text):
            if int(match[1]) != counts[match[2]]:
                says = f"{match[0]}: {COUNTED[match[2]][0]} has {counts[match[2]]}"
                tree.complain(path, text, match.start(), says)
        # ctest -N alone knows; the word stays true where the number would not.
        for match in re.finditer(r"scripts/test\s+#? *all of it|\d+ of \d+ ctests", text):
            tree.complain(path, text, match.start(), "ctest -N counts the tests: say which")


def check_links(tree):
    for path in tree.documents():
        text = tree.text(path)
        folder = os.path.dirname(path)
        for match in re.finditer(r"\]\(([^)\s]+)\)", text):
            link, _, anchor = match[1].partition("#")
            if re.match(r"https?:", link):
                continue
            target = os.path.normpath(os.path.join(folder, link)) if link else path
            if not tree.exists(target):
                tree.complain(path, text, match.start(), f"no {match[1]}")
            elif anchor and anchor not in map(anchor_of, headings(tree.text(target))):
                tree.complain(path, text, match.start(), f"{target} has no heading #{anchor}")


def headings(text):
    bare = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.M | re.S)
    return [heading.replace("`", "") for heading in re.findall(r"^#+ (.*)$", bare, re.M)]


def anchor_of(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def check_paths(tree):
    pattern = re.compile(rf"`((?:{FOLDERS})/[a-z0-9_./-]+)`")
    for path in tree.documents():
        if path == "CHANGELOG.md":
            continue  # it names files of earlier trees
        text = tree.text(path)
        for match in pattern.finditer(text):
            if not tree.exists(match[1]) and not MADE.search(match[1]):
                tree.complain(path, text, match.start(), f"no file {match[1]}")


def sources(root):
    for folder in FOLDERS.split("|"):
        for base, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".def", ".py", ".sh", ".txt")) and name != TEST:
                    yield os.path.relpath(os.path.join(base, name), root)


def cited_document(tree, path, name):
    """The document that NAME means: beside the one that cites it, or from the top."""
    for base in (os.path.dirname(path), "docs", ""):
        found = os.path.normpath(os.path.join(base, name))
        if tree.exists(found):
            return found
    return None


def check_headings(tree):
    """A document and, in quotes, a heading of it: docs/FORMAT.md, "Arenas"."""
    for path in [*tree.documents(), *sources(tree.root)]:
        text = re.sub(r"\n[ \t]*(?:\*|#|//)[ \t]", "\n", tree.text(path))
        for match in CITED.finditer(text):
            document = cited_document(tree, path, match[1])
            heading = " ".join(match[2].split()).rstrip(".")
            if not document:
                tree.complain(path, text, match.start(), f"no document {match[1]}")
            elif heading not in headings(tree.text(document)):
                says = f'{document} has no heading "{heading}"'
                tree.complain(path, text, match.start(), says)


CHECKS = (
    check_settings,
    check_views,
    check_frameworks,
    check_passes,
    check_counts,
    check_links,
    check_paths,
    check_headings,
)


def check(root):
    tree = Tree(root)
    for one in CHECKS:
        one(tree)
    return tree.found


if __name__ == "__main__":
    found = check(sys.argv[1])
    print("\n".join(found), file=sys.stderr)
    sys.exit(1 if found else 0)
