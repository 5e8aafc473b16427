"""Sentences of the documentation that have to be read twice: `python -m tests.sentences [PAGE ...]` prints them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.places import ROOT

OPENING = re.compile(r"^(?:Of|What|Whoever|Who|Where) [a-z]")
"""A clause in front of its subject."""
WORDS = re.compile(r"\b(?:told|untold|anew|beside|mend(?:s|ed|ing)?|reckon\w*|whoever)\b", re.IGNORECASE)
MOST_WORDS = 35
SHORT = 5
"""A name of a screen or a label may begin as it likes."""
CODE = re.compile(r"^```.*?^```$|^ {4,}\S[^\n]*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
END = re.compile(r"(?<=[.!?。])[\"')*_]*\s+(?=[A-Z\"'(*`\[])")
LATIN = re.compile(r"[A-Za-z]")


def pages() -> list[Path]:
    """The pages that are written by hand."""
    generated = ROOT / "docs" / "reference"
    return sorted(
        {ROOT / "README.md", *(page for page in (ROOT / "docs").rglob("*.md") if generated not in page.parents)}
    )


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page: no code, headings or quotations; a table's cell and a list's item are paragraphs."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|>]|\d+\.) ?)", CODE.sub("\n\n", text)):
        if block.lstrip().startswith(("#", ">")):
            continue
        cells = block.strip().strip("|").split(" | ") if block.lstrip().startswith("|") else [block]
        for cell in cells:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "`code`", " ".join(cell.split())))
            yield from (part.lstrip("-*> 0123456789.") for part in END.split(plain) if LATIN.search(part))


def hard(text: str) -> list[str]:
    """Each sentence that breaks a rule, after the rule."""
    found = []
    for sentence in sentences(text):
        quoted = re.sub(r"\*[^*]+\*|\"[^\"]+\"", "", sentence)
        if OPENING.match(sentence) and len(sentence.split()) > SHORT and not sentence.rstrip("*_\"')").endswith("?"):
            found.append(f"starts with a clause: {sentence}")
        if match := WORDS.search(quoted):
            found.append(f"`{match[0]}`: {sentence}")
        if len(re.findall(r"[\w`'-]+", sentence)) > MOST_WORDS:
            found.append(f"more than {MOST_WORDS} words: {sentence}")
    return found


if __name__ == "__main__":
    wrong = {page: hard(page.read_text("utf-8")) for page in map(Path, sys.argv[1:] or pages())}
    for page, problems in wrong.items():
        print(*(f"{page}: {problem}" for problem in problems), sep="\n", end="\n" if problems else "")
    sys.exit(any(wrong.values()))
