"""Turns that somebody marked as stating a lasting fact: JSON Lines, each naming a turn of a set and what is to be caught of it.

A mark names its turn, whom the fact is about, the classes that fit, and words of which a memory of it has one. No store is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import get_args

import orjson

from api.evaluation.lines import object_on
from events.errors import refused
from events.vocabulary import Category

SELF = "self"
"""The subject of what a speaker says of himself."""
MOST_MARKS = 100_000
MOST_WORDS = 20
"""Words, subjects or classes of one mark."""
MOST_LETTERS = 200
"""Of a word."""
CLASSES: tuple[str, ...] = get_args(Category)


@dataclass(frozen=True, slots=True)
class MarkedTurn:
    """What is to be caught of one turn."""

    line: int
    """Where the mark stands in its file."""
    conversation: str
    turn_id: str
    subject: tuple[str, ...]
    """`self`, or a word for one whom the memory names: *dad*, 老师; any of them will do."""
    classes: tuple[str, ...]
    """Categories that fit; any of them will do."""
    words: tuple[str, ...]
    """Parts of texts, of which the memory has one, whatever the case."""

    @property
    def told(self) -> tuple[object, ...]:
        """All but where it stands; lists in any order are the same."""
        lists = (self.subject, self.classes, self.words)
        return (self.conversation, self.turn_id, *(tuple(sorted(one.casefold() for one in told)) for told in lists))


def read_marks(path: Path) -> list[MarkedTurn]:
    """The marks of a file, in order. Raises InputError naming line and field."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise refused("marked", str(path), f"a file of JSON Lines ({error.strerror})") from None
    marks = list(_marks(lines))
    if not marks:
        raise refused("marked", str(path), "a file with at least one marked turn")
    seen: dict[tuple[object, ...], int] = {}
    for mark in marks:
        first = seen.setdefault(mark.told, mark.line)
        if first != mark.line:
            raise refused(f"marked line {mark.line}", f"what line {first} marks", "each mark once")
    return marks


def key_of(marks: Sequence[MarkedTurn]) -> str:
    """A hash of what is marked, whatever the order and the writing: 16 hexadecimal digits; two runs with the same compare."""
    told = sorted(orjson.dumps(one.told) for one in marks)
    return sha256(b"\n".join(told)).hexdigest()[:16]


def _marks(lines: list[bytes]) -> Iterator[MarkedTurn]:
    if len(lines) > MOST_MARKS:
        raise refused("marked", f"{len(lines):,} lines", f"at most {MOST_MARKS:,}")
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _mark(line, number)


def _mark(line: bytes, number: int) -> MarkedTurn:
    document = object_on(line, f"marked line {number}")
    classes = _texts(document, number, "classes")
    for one in classes:
        if one not in CLASSES:
            raise refused(f"marked line {number}, classes", one, ", ".join(CLASSES))
    return MarkedTurn(
        number,
        _text(document, number, "conversation"),
        _text(document, number, "turn_id"),
        _texts(document, number, "subject"),
        classes,
        _texts(document, number, "words"),
    )


def _text(document: Mapping[str, object], number: int, name: str) -> str:
    told = document.get(name)
    if not isinstance(told, str) or not told.strip():
        raise refused(f"marked line {number}, {name}", told, "a text")
    return told


def _texts(document: Mapping[str, object], number: int, name: str) -> tuple[str, ...]:
    told = document.get(name)
    texts = [one.strip() for one in told if isinstance(one, str)] if isinstance(told, list) else []
    fits = isinstance(told, list) and len(texts) == len(told) and 0 < len(texts) <= MOST_WORDS
    if not fits or not all(0 < len(one) <= MOST_LETTERS for one in texts):
        raise refused(
            f"marked line {number}, {name}",
            told,
            f"a list of 1 to {MOST_WORDS} texts of at most {MOST_LETTERS} letters",
        )
    return tuple(dict.fromkeys(texts))
