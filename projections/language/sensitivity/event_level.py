"""How sensitive an event is: the highest level that today's rules find in what its producer wrote there. Pure.

It is asked once, when the event is appended, and stands beside its body. Folding takes the figure and runs no rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, get_args

import msgspec

from engramlog_server.events.catalogue import EventData, FactAsserted, FactRetracted
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.events.vocabulary import Digest, EventId, Id, Position, Shape, Value, Word
from engramlog_server.projections.language.sensitivity.text_level import PUBLIC, SECRET, detect_sensitivity

LEVEL_RULES = 2
"""Version of the rules, from 1. Raise it, and `PROJECTION_VERSION` with it, when they find something else in a known text:
the job `levels` then reads older entries again. Raise it too when another field counts."""
NAME_LENGTH = 40
"""Characters of the longest text whose level is remembered: the same speakers, projects and keywords come again and again."""


def level_of(event: AnyEvent) -> int:
    """0 to 3: the highest over each text that a producer wrote in the event; 0 where there is none. Never raises."""
    return level_of_data(event.data)


def level_of_data(data: EventData) -> int:
    """The same of the data of an event: every text, name, keyword and reason, and a triple as one text; no id."""
    if type(data) in (FactAsserted, FactRetracted):
        return _level(told_by_triple(data))  # type: ignore[arg-type]
    level = PUBLIC
    for value_of in _written(type(data)):
        value = value_of(data)
        if value:
            level = max(level, _level(value) if type(value) is str else highest(words_in(value)))
            if level == SECRET:
                break
    return level


def holds_words(cls: type) -> bool:
    """Whether its producer may write something in an event with such data."""
    return cls in (FactAsserted, FactRetracted) or bool(_written(cls))


def highest(texts: Iterable[str | None]) -> int:
    """The highest level among texts, each judged alone; None and "" count nothing."""
    level = PUBLIC
    for text in texts:
        if text:
            level = max(level, _level(text))
            if level == SECRET:
                break
    return level


_of_name = lru_cache(maxsize=4096)(detect_sensitivity)


def _level(text: str) -> int:
    return _of_name(text) if len(text) <= NAME_LENGTH else detect_sensitivity(text)


def told_by_triple(data: FactAsserted | FactRetracted) -> str:
    """A triple as the rules read it: in one text, for a secret's name stands in one part and the secret in another."""
    return f"{data.subject} {data.predicate} {data.object} {data.condition or ''}"


def judged_under(stored: Stored) -> int:
    """By which version of the rules the entry's level was found; 0 where nobody looked, or none can be read."""
    return int(stored.beside[2].partition(b":")[0]) if stored.level is not None else 0


def level_now(stored: Stored) -> int | None:
    """The entry's level where today's rules said so; None where a text must be looked at."""
    return stored.level if judged_under(stored) == LEVEL_RULES else None


def at_most(level: int, words: str, whole: int | None) -> bool:
    """Whether words are no more sensitive than `level`. `whole`: of the event that they stand in, which may spare the question."""
    return (whole is not None and whole <= level) or detect_sensitivity(words) <= level


_NOT_WRITTEN = (Id, EventId, Word, Position, Digest, Value)
"""Ids, and words without a space: what an event is told by, not what it tells."""


@cache
def _written(cls: type) -> tuple[Callable[[Any], Any], ...]:
    """How to get each field of a shape in which its producer may write; found out once for each."""
    return tuple(attrgetter(field.name) for field in msgspec.structs.fields(cls) if may_hold_words(field.type))


def may_hold_words(kind: Any) -> bool:
    """Whether a producer may write something in a field of this type."""
    if kind in _NOT_WRITTEN:
        return False
    if isinstance(kind, type) and issubclass(kind, Shape):
        return bool(_written(kind))
    return kind is str or any(map(may_hold_words, get_args(kind)))


def words_in(value: Any) -> Iterator[str]:
    """Every text in a value, however deep it lies: of shapes their written fields, of a dict each name with its value, as
    `password: ...` is read in a text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Shape):
        for value_of in _written(type(value)):
            yield from words_in(value_of(value))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from words_in(item)
    elif isinstance(value, dict):
        yield from (f"{name}: {item}" for name, item in value.items())
