"""Facts with one value at a time, read out of a statement: age, year of birth, home, origin, counts, measures, dates, times.

Only what is asserted of somebody definite is read: no question, supposition, approximation, denial, nor what is past.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from engramlog_server.projections.language.contradiction.slots_chinese import CHINESE
from engramlog_server.projections.language.contradiction.slots_english import ENGLISH
from engramlog_server.projections.language.contradiction.values import different_places, place_at_start, read_slots
from engramlog_server.projections.language.extraction.fleeting import of_another_time
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN


class Slot(NamedTuple):
    """One value: whose, of what, and the value in a form in which equal values are equal."""

    subject: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.subject}, {self.name}: {self.value.removeprefix(self.name).strip()}"


class SlotClash(NamedTuple):
    """Two values of one thing that cannot both hold."""

    new: Slot
    known: Slot

    def __str__(self) -> str:
        return f"{self.new} / {self.known}"


_ANYBODY = regex(r"(?:he|she|they)$|(?:his|her|their|the) |[他她]")
_TIMES = frozenset(("day", "time"))
_ONES_OWN = regex(r"i$|(?:my|our|we)\b|[^\x00-\x7f]*(?:生日|纪念日)$")
_CLAUSE = regex(r"[^,.;:!?。、\n]+(?:(?<=\d)[.,:](?=\d)[^,.;:!?。、\n]+)*[?]?")
_ENGLISH, _CHINESE = regex("[a-z]"), regex(rf"[{HAN}]|\d年?$")
_PLACES = frozenset(("home", "origin", "whereabouts"))


@lru_cache(maxsize=1 << 10)
def slots(text: str) -> tuple[Slot, ...]:
    """The slots of a text in one writing (`negation.written`), each name once; never raises.

    What a text gives two different values ("in May, no, in June") is left out, and so is a place that was somebody's once or is
    his for a while.
    """
    found: dict[tuple[str, str], str | None] = {}
    before = ""
    for clause in _CLAUSE.finditer(text):
        said = clause[0].strip()
        for subject, name, value in _read(said):
            if name in _PLACES and (
                _elsewhere(value, text, clause.end()) or of_another_time(f"{before}, {said}", None)
            ):
                continue
            key = subject, name
            found[key] = value if found.get(key, value) == value else None
        before = said if text[clause.end() : clause.end() + 1] == "," else ""
    return tuple(Slot(*key, value) for key, value in found.items() if value is not None)


def _elsewhere(place: str, text: str, end: int) -> bool:
    """Whether a comma leads on to a place in which this one does not lie: "Paris, Texas"."""
    after = place_at_start(text[end + 1 : end + 40].lstrip()) if text[end : end + 1] == "," else None
    return after is not None and different_places(place, after[0])


def _read(clause: str) -> Iterator[tuple[str, str, str]]:
    """In either language, where its letters stand in the clause."""
    if _ENGLISH.search(clause):
        yield from read_slots(clause, ENGLISH)
    if _CHINESE.search(clause):
        yield from read_slots(clause, CHINESE)


def clashes(new: tuple[Slot, ...], known: tuple[Slot, ...]) -> tuple[SlotClash, ...]:
    """Where two statements give one thing different values."""
    values = {(slot.subject, slot.name): slot for slot in known}
    pairs = ((slot, values.get((slot.subject, slot.name))) for slot in new)
    return tuple(SlotClash(slot, other) for slot, other in pairs if other is not None and _differ(slot, other))


def certain(clash: SlotClash) -> bool:
    """Whether both values are surely of one thing: "he", "the meeting" and "Friday" may be others the next time."""
    if clash.new.name == "weekday":
        return False
    if clash.new.name in _TIMES:
        return _ONES_OWN.match(clash.new.subject) is not None
    return _ANYBODY.match(clash.new.subject) is None


def agreements(new: tuple[Slot, ...], known: tuple[Slot, ...]) -> tuple[Slot, ...]:
    """Slots that both statements fill with one value."""
    return tuple(slot for slot in new if slot in known)


def _differ(one: Slot, other: Slot) -> bool:
    if one.name in _PLACES:
        return different_places(one.value, other.value)
    kind_a, _, value_a = one.value.partition(" ")
    kind_b, _, value_b = other.value.partition(" ")
    return kind_a == kind_b and value_a != value_b
