# SPDX-License-Identifier: Apache-2.0
"""catalogue.py CATALOGUE LANGUAGES_DEF: what msgfmt --check does not see.

Measures in braces are the same; names of facts keep their columns; blanks and line ends around a
text stay; the plural of languages.def is the catalogue's; no English is left between the words.
"""

import re
import sys

import po

FACT = re.compile(r"^( {11}|[a-z][a-z ]{0,8}[a-z] {2,})(?=\S|$)")
# Words that Chinese engineers write as they are; all else in Latin letters stands in the original,
# too.
LATIN = {"worker", "kernel", "rank", "cpu", "gpu", "cuda", "graph", "fork", "exec", "wheel"}


def complaints(original, text):
    if sorted(re.findall(r"\{\w+\}", original)) != sorted(re.findall(r"\{\w+\}", text)):
        yield "its {measures} are others"
    fact = FACT.match(original)
    if fact and len(fact.group(1)) == 11 and po.width(re.match(r".*? {2,}|", text).group()) != 11:
        yield "the name of the fact and its blanks take 11 columns"
    if (
        not fact
        and re.match(r" *", original).group() != re.match(r" *", text).group()
        and text[0] not in "（，；、："
    ):
        yield "it begins with other blanks"
    if original.endswith("\n") != text.endswith("\n"):
        yield "only one ends the line"
    known = {word.lower() for word in re.findall(r"[A-Za-z]{2,}", original)}
    for word in re.findall(r"[A-Za-z]{3,}", text):
        if word.lower() not in known and word.lower() not in LATIN:
            yield f"{word} is no word of the original"


def main():
    catalogue, languages = sys.argv[1:]
    code = catalogue.rsplit("/", 1)[-1][:-3]
    failed = 0
    header = ""
    for original, text in po.entries(catalogue):
        if not original:
            header = text
            continue
        for complaint in complaints(original, text):
            print(f"{catalogue}: {original!r} -> {text!r}: {complaint}", file=sys.stderr)
            failed = 1
    plural = re.search(r"Plural-Forms:.*plural=([^;]*);", header).group(1)
    with open(languages, encoding="utf-8") as file:
        line = re.search(rf'^SP_LANGUAGE\({code}, "[^"]*", (.*)\)$', file.read(), re.M)
    if not line or line.group(1).strip() != plural.strip():
        print(
            f"{languages}: the plural of {code} is not {plural}, as {catalogue} says",
            file=sys.stderr,
        )
        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
