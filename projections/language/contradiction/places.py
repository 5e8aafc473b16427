"""Places that a person may live in or come from: countries, provinces, well-known cities, in English and Chinese.

Only two places that are both known here, neither within the other, are certain to be different.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.language.scripts import begins_with_han


@cache
def _places() -> tuple[Mapping[str, str], Mapping[str, frozenset[str]]]:
    """Names to places, and places to those they lie in directly."""
    named: dict[str, str] = {}
    within: dict[str, frozenset[str]] = {}
    for row in rows("places"):
        names = row["english"] + row["chinese"]
        named |= dict.fromkeys(names, names[0])
        if row["within"]:
            within[names[0]] = frozenset(row["within"])
    return named, within


@cache
def _starts() -> re.Pattern[str]:
    """Any known name at the start, longest first."""
    names = sorted(_places()[0], key=len, reverse=True)
    return re.compile("|".join(name if begins_with_han(name) else rf"{re.escape(name)}\b" for name in names))


def place_at_start(text: str) -> tuple[str, int] | None:
    """The known place with which a casefolded text begins, and how many characters name it."""
    found = _starts().match(text)
    return None if found is None else (_places()[0][found[0]], found.end())


def different_places(one: str, other: str) -> bool:
    """Whether two places from `place_at_start` are certainly not the same: neither lies in the other."""
    return one != other and other not in _around(one) and one not in _around(other)


def lies_in(place: str, outer: str) -> bool:
    """Whether one place lies in another, at any depth; a place does not lie in itself."""
    return outer in _around(place)


@cache
def _around(place: str) -> frozenset[str]:
    within, found, waiting = _places()[1], set[str](), [place]
    while waiting:
        areas = within.get(waiting.pop(), frozenset()) - found
        found |= areas
        waiting += areas
    return frozenset(found)
