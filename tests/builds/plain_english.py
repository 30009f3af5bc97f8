# SPDX-License-Identifier: Apache-2.0
"""plain_english.py SOURCE [PATH…]: the English of comments, documents and messages against a short
list of patterns.

Prints each match as FILE:LINE: the words; the remedy. Exit status: 1 if there is one. The table
tests/builds/plain_english.txt lists the folders that are checked and the few allowed exceptions;
PATHs are checked instead, if given. plain_english_test.py shows that each pattern is found."""

import io
import os
import re
import subprocess
import sys
import tokenize

STAR = "\N{LOW ASTERISK}"  # for a star that has no blank after it, in a block comment

TABLE = "tests/builds/plain_english.txt"

# A sentence begins at the beginning of a text, after the end of another, or after the mark of a
# list item.
BEGIN = r"(?:\A|(?<=[.!?:;] )|(?<=\n\n)|(?<=\n- )|(?<=\n\* )|(?<=\| ))"
WORDS = r"(?:[\w'()-]+ ){1,10}?"
VERB = r"(?:is|are|was|were|has|have|had|does|do|did|can|cannot|could|may|might|must|will|would|makes|takes|gives|needs|knows|says|comes|goes|reads|writes)"

# (name, pattern, remedy). The pattern is matched against a text whose lines are joined by blanks.
PATTERNS = (
    (
        "clause as subject",
        BEGIN + r"(?:What(?![- ]ifs?\b)|Who|Whoever|Whatever|Whether|Which) [^.?!]*(?:[.!;]|\Z)",
        "begin with a noun that the code has",
    ),
    (
        "for as because",
        r", for (?:they|it|he|we|you|there|this|that|these|those|then|nobody|nothing|none|no|its|what|whatever|else)\b",
        "write 'because', or begin a new sentence",
    ),
    (
        "what in the middle",
        r"[:;] (?:and |but )?what " + WORDS + VERB + r"(?: [\w'()-]+){0,5}? " + VERB + r"\b",
        "begin the part with a noun that the code has",
    ),
    ("of first", BEGIN + r"Of (?!course)", "begin with the subject"),
    (
        "pronoun first",
        r"\A\s*(?:It|They|Its|Their|Those|Them) ",
        "name the noun: a text of its own has none that the pronoun could mean",
    ),
    (
        "for as because",
        r", for (?:the|a|an|each|all|some|most|many|one|two|every) "
        + WORDS
        + r"(?:need|want|"
        + VERB[3:]
        + r"\b",
        "write 'because', or begin a new sentence",
    ),
    ("told", r"(?i:\b(?:un|re)?told\b)", "write 'reported' or 'known'"),
    ("tells", r"(?i:\b(?:tells|telling|tell (?:\w+ ){0,2}apart)\b)", "write 'shows' or 'distinguishes'"),
    ("said", r"\b(?:is|are|was|were|be|been)(?: not)? said\b", "write 'the report says'"),
    ("his", r"\b(?:he|she|his|her|him)\b", "name the program, the caller or the user"),
    ("foretold", r"\bforet(?:old|ells?|elling)\b", "write 'predicted'"),
    ("behind", r"(?<!\bms )(?<!%s )\bbehind\b", "write 'after' (place or time), or name the relation"),
    ("besides", r"\bbesides\b", "write 'also' or 'in addition'"),
    ("whoever", r"\b(?:whoever|whomever|whosoever)\b", "name the caller, the user or the program"),
    ("likewise", r"\blikewise\b", "name the condition again"),
    (
        "nor",
        r"\bnor (?:is|are|was|were|does|do|did|has|have|can|may|will)\b",
        "begin a new sentence with its subject",
    ),
    ("in vain", r"\bin vain\b", "say what happens"),
    (
        "old words",
        r"\b(?:thereof|whereof|wherein|whereupon|thereupon|hereby|whence|hither|thither|lest|albeit"
        r"|anew|want of|but for|passed over|(?:is|are|was|were) \w+ no more)\b",
        "use a word of today",
    ),
    ("microseconds", r"\d us\b", "write 'µs'"),
    ("star", STAR, "put a blank after the star"),
    ("per cent", r"\d %(?![\w(.*%-])", "write '90%', without a blank"),
)
UNITS = ("microseconds", "per cent")
COMPILED = [(name, re.compile(pattern, re.S), remedy) for name, pattern, remedy in PATTERNS]


class Text:
    """A text and, for each of its characters, the line of the file."""

    def __init__(self, is_literal=False):
        self.parts, self.lines, self.is_literal = [], [], is_literal

    def add(self, text, line):
        self.parts.append(text)
        self.lines.extend([line] * len(text))

    def text(self):
        return "".join(self.parts)


def joined(lines):
    """lines: (number, text) of one comment or paragraph. An empty line stays a break; others are
    joined by a blank."""
    text = Text()
    for number, line in lines:
        line = line.strip()
        if not line:
            text.add("\n\n", number)
        elif re.match(r"(?:[-*]|\d+\.) ", line):
            text.add("\n- " + re.sub(r"^(?:[-*]|\d+\.) +", "", line) + " ", number)
        else:
            text.add(line + " ", number)
    return text


C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def texts_of_c(source):
    """Comments and string literals. Literals with nothing but blanks between them are one."""
    last = None
    for match in C_TOKEN.finditer(source):
        token, line = match[0], source.count("\n", 0, match.start()) + 1
        if token.startswith("'"):
            continue
        if token.startswith('"'):
            between = source[last[1] : match.start()] if last else "x"
            if last and not between.strip():
                last[0].append((line, token[1:-1]))
                last[1] = match.end()
                continue
            if last:
                yield literal(last[0])
            last = [[(line, token[1:-1])], match.end()]
            continue
        if last:
            yield literal(last[0])
            last = None
        body = token[2:-2] if token.startswith("/*") else token[2:]
        yield joined(
            (line + i, re.sub(r"^\s*\*", STAR if i and re.match(r"\s*\*[\w(]", part) else "", part))
            for i, part in enumerate(body.split("\n"))
        )
    if last:
        yield literal(last[0])


def literal(pieces):
    text = Text(is_literal=True)
    for number, piece in pieces:
        text.add(piece.replace("\\n", " ").replace("\\t", " "), number)
    return text


def texts_of_python(source):
    """Comments, a block of adjacent ones as one text, docstrings and other strings."""
    block = []
    statement = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        number = token.start[0]
        if token.type == tokenize.COMMENT:
            if block and block[-1][0] != number - 1:
                yield joined(block)
                block = []
            block.append((number, token.string.lstrip("#")))
        elif token.type == tokenize.STRING and statement:
            body = token.string.strip("rbuRBU").strip("\"'")
            yield joined((number + i, line) for i, line in enumerate(body.split("\n")))
        elif token.type == tokenize.STRING:
            yield literal([(number, token.string.strip("rbfuRBFU").strip("\"'"))])
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            statement = token.type in (
                tokenize.NEWLINE,
                tokenize.INDENT,
                tokenize.DEDENT,
                tokenize.ENCODING,
            )
    if block:
        yield joined(block)


def texts_of_script(source):
    """Comments that have their line for themselves, a block of adjacent ones as one text; and
    strings in double quotes."""
    block = []
    for number, line in enumerate(source.split("\n"), 1):
        match = re.match(r"\s*#(?!!)(.*)", line)
        if match:
            block.append((number, match[1]))
            continue
        if block:
            yield joined(block)
            block = []
        for quoted in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            yield literal([(number, quoted)])
    if block:
        yield joined(block)


def texts_of_markdown(source):
    """Paragraphs, list items and cells of tables; no code."""
    block, code = [], False
    for number, line in enumerate(source.split("\n"), 1):
        if line.startswith("```"):
            code = not code
            continue
        if code or line.startswith("    ") and not block:
            continue
        if line.strip() and not line.startswith(("|", "#")):
            block.append(
                (number, re.sub(r"`[^`]*`|\*\*", lambda m: "X" if m[0][0] == "`" else "", line))
            )
            continue
        if block:
            yield joined(block)
            block = []
        for cell in re.sub(r"`[^`]*`", "X", line).strip("# ").split("|"):
            yield joined([(number, cell)])
    if block:
        yield joined(block)


def texts_of_man(source):
    """Paragraphs of a page for man(1): the words of its lines, and no other macro."""
    block = []
    for number, line in enumerate(source.split("\n"), 1):
        words = re.sub(r"^\.(?:[BIR]{1,2}|SM|SB) ", "", line)
        if words.startswith((".", "'")):
            if block:
                yield joined(block)
            block = []
            continue
        block.append((number, re.sub(r"\\f[BIRP]|\\&", "", words).replace("\\-", "-")))
    if block:
        yield joined(block)


READERS = {
    ".c": texts_of_c,
    ".h": texts_of_c,
    ".def": texts_of_c,
    ".cpp": texts_of_c,
    ".cu": texts_of_c,
    ".css": texts_of_c,
    ".proto": texts_of_c,
    ".js": texts_of_c,
    ".py": texts_of_python,
    ".sh": texts_of_script,
    ".cmake": texts_of_script,
    ".txt": texts_of_script,
    ".yml": texts_of_script,
    ".ctags": texts_of_script,
    ".bash": texts_of_script,
    ".1": texts_of_man,
    ".md": texts_of_markdown,
}


def reader_of(path, source):
    ending = os.path.splitext(re.sub(r"\.in$", "", path))[1]
    if ending in READERS:
        return READERS[ending]
    first = source.split("\n", 1)[0]
    if first.startswith("#!"):
        return texts_of_python if "python" in first else texts_of_script
    return None


def matches(path, source):
    """(line, words, remedy) of a file."""
    reader = reader_of(path, source)
    for text in reader(source) if reader else ():
        whole = text.text()
        bare = re.sub(r"`[^`]*`", lambda m: "X" * len(m[0]), whole)
        for name, pattern, remedy in COMPILED:
            if text.is_literal and (name in UNITS or path.startswith("tests/")):
                continue  # formats, and outputs that a test compares
            for match in pattern.finditer(bare):
                yield text.lines[match.start()], name, " ".join(match[0].split()), remedy


class Table:
    """Lines `check PATH` and `allow PATH: WORDS | REASON`."""

    def __init__(self, root):
        self.checked, self.allowed, self.problems = [], [], []
        with open(os.path.join(root, TABLE), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                self.take(root, number, line.strip())

    def take(self, root, number, line):
        if not line or line.startswith("#"):
            return
        check = re.fullmatch(r"check (\S+)", line)
        allow = re.fullmatch(r"allow (\S+): (.+) \| (.+)", line)
        path = (check or allow or [None, ""])[1]
        if not check and not allow:
            self.problems.append(f"{TABLE}:{number}: not a line of this table: {line}")
        elif not os.path.exists(os.path.join(root, path)):
            self.problems.append(f"{TABLE}:{number}: no {path}; remove the line")
        elif check:
            self.checked.append(path)
        else:
            self.allowed.append([path, allow[2], number, False])

    def allows(self, path, words):
        for row in self.allowed:
            if row[0] == path and row[1] in words:
                row[3] = True
                return True
        return False

    def unused(self):
        for path, words, number, is_used in self.allowed:
            if not is_used:
                yield f"{TABLE}:{number}: {path} has no '{words}'; remove the line"


def files(root, paths):
    if not paths:
        return []
    command = [
        "git",
        "-C",
        root,
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--",
        *paths,
    ]
    listed = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    return sorted(set(filter(None, listed.split("\0"))))


def check(root, paths=()):
    """The complaints, and the number of files that were read."""
    table = Table(root)
    found, read = list(table.problems), 0
    for path in files(root, paths or table.checked):
        full = os.path.join(root, path)
        if os.path.islink(full) or not os.path.isfile(full):
            continue
        try:
            with open(full, encoding="utf-8") as file:
                source = file.read()
        except UnicodeDecodeError:
            continue
        read += reader_of(path, source) is not None
        for line, name, words, remedy in matches(path, source):
            if not table.allows(path, words):
                found.append(f"{path}:{line}: {name}: '{words[:100]}'; {remedy}")
    if not paths:
        found.extend(table.unused())
    if not read:
        found.append(f"{TABLE}: no file is checked")
    return found


def main():
    found = check(sys.argv[1], sys.argv[2:])
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
