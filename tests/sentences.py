"""Sentences that have to be read twice, in pages, messages and docstrings.

`python -m tests.sentences` prints those of pages and messages; with paths of pages or modules those of the given files,
docstrings included.
"""

from __future__ import annotations

import ast
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


PRODUCT = ("events", "projections", "consumers", "api", "ops", "client")
NO_PROSE = re.compile(r"redis\.call|CREATE TABLE|engramlog \w+ \w+ \"|\\[bwd]|\(\?|\|.*\|")
"""Scripts of Redis, SQL, examples of commands, patterns."""
STORED = (
    "projections/decide/commands.py",
    "projections/fold",
    "projections/lifecycle/patterns.py",
    "projections/lifecycle/review.py",
    "projections/memory/deletion.py",
)
"""Their words are in owners' chains, or make ids."""
OF_PEOPLE = (
    "projections/language",
    "projections/lifecycle/judge",
    "projections/prompt",
    "events/cipher.py",
)
"""Rules and lists of words that people say."""


def modules() -> list[Path]:
    """The modules of the product and of the client."""
    return sorted(path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py"))


def hard_strings(path: Path) -> tuple[list[str], list[str]]:
    """The sentences of a module's messages that break a rule, and those of its docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    bodies = [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list)]
    first = [line.value for body in bodies for line in body if isinstance(line, ast.Expr)]
    notes = {id(value): value for value in first if isinstance(value, ast.Constant) and isinstance(value.value, str)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    messages = [_text(node) for node in ast.walk(tree) if id(node) not in notes and id(node) not in inside]
    named = path.relative_to(ROOT).as_posix()
    spoken = (
        []
        if named.startswith((*STORED, *OF_PEOPLE))
        else [text for text in messages if " " in text.strip() and not NO_PROSE.search(text)]
    )
    return [found for text in spoken for found in hard(text)], [
        found for value in notes.values() for found in hard(str(value.value))
    ]


def _text(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr():
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "it" for part in node.values)
    return ""


def _of_file(path: Path) -> list[str]:
    return [*hard_strings(path)[0], *hard_strings(path)[1]] if path.suffix == ".py" else hard(path.read_text("utf-8"))


if __name__ == "__main__":
    wrong = {path: _of_file(path.resolve()) for path in map(Path, sys.argv[1:])} or {
        **{page: hard(page.read_text("utf-8")) for page in pages()},
        **{module: hard_strings(module)[0] for module in modules()},
    }
    for page, problems in wrong.items():
        print(*(f"{page}: {problem}" for problem in problems), sep="\n", end="\n" if problems else "")
    sys.exit(any(wrong.values()))
