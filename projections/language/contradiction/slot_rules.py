"""How slots are read out of a clause in any language: rules one after the other, each a pattern and what its match says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from engramlog_server.projections.language.contradiction.places import place_at_start

Said = tuple[str, str]
"""Of what, and the value."""


class SlotRule(NamedTuple):
    """One way to give a value. Group 1 of the pattern is whose it is; without it the value is the speaker's."""

    pattern: re.Pattern[str]
    says: Callable[[re.Match[str], str], Said | None]
    """Of a match and its clause; None where it says nothing certain."""
    of_thing: bool = False
    """Group 1 is a thing (a meeting), not somebody."""


class SlotLanguage(NamedTuple):
    """How one language gives values."""

    longest: int
    """Characters of a clause beyond which nothing is read."""
    unsure: re.Pattern[str]
    """Where a clause asks, supposes, denies, estimates or tells of the past: then it gives no value."""
    rules: tuple[SlotRule, ...]
    whose: Callable[[str | None], str]
    """Somebody, as it is compared."""
    thing: Callable[[str], str] = str
    cleaned: Callable[[str], str] = str
    """The clause without words that only look unsure."""


def read_slots(clause: str, language: SlotLanguage) -> Iterator[tuple[str, str, str]]:
    """Whose, of what, value, rule by rule."""
    if len(clause) > language.longest:
        return
    clause = language.cleaned(clause)
    if language.unsure.search(clause):
        return
    for rule in language.rules:
        for found in rule.pattern.finditer(clause):
            if (said := rule.says(found, clause)) is not None:
                yield language.thing(found[1]) if rule.of_thing else language.whose(found[1]), *said


def place_after(name: str) -> Callable[[re.Match[str], str], Said | None]:
    """The place right behind a match: somebody's home, or origin."""

    def says(found: re.Match[str], clause: str) -> Said | None:
        place = place_at_start(clause[found.end() :])
        return None if place is None else (name, place[0])

    return says
