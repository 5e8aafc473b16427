"""Which memories a job may merge into one: the same said again, by somebody of the same frame (memory.md, section 5). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from engramlog_server.events.parameters import Parameters
from engramlog_server.events.vocabulary import MAX_SOURCES
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.polarity import difference, opposite, speaks_from_its_day, wording
from engramlog_server.projections.language.similar import Bag, alike, bag_of, similarity
from engramlog_server.projections.memory.record import UNCOMPRESSED, Memory

_WORDINGS = 16
"""Texts of which the wording is read between two checks: some milliseconds."""


class Group(NamedTuple):
    """Memories that may become one, by their places in the sequence: 2 to 100 sources, the base, the newest, first."""

    base_index: int
    source_indexes: tuple[int, ...]
    similarity: float
    """The least similarity, 0 to 1, between the base and another source."""


def may_merge(a: Memory, b: Memory, parameters: Parameters) -> str | None:
    """None if a job may merge the two, else why not, in words (memory.md, section 5).

    Besides what the section names, they must say the same (`projections.language.polarity.difference`), be of one kind, tier,
    project and speaker, and "tomorrow" must mean one day: a merge keeps the base's words alone. Only the order of the
    reasons and the words in them depend on which comes first.
    """
    return (
        _unfit(a)
        or _unfit(b)
        or framed_apart(a, b, parameters)
        or _tied(a, b)
        or _worded_apart(a.content, b.content)
        or _unlike(a.content, b.content, parameters.merge_similarity)
    )


def _unfit(memory: Memory) -> str | None:
    """Why no job merges this memory with any, or None."""
    states = (
        ("purged", memory.purged_at is not None),
        ("deleted", memory.deleted_at is not None),
        ("merged already", memory.merged_into is not None),
        ("retired", memory.retired_at is not None),
        ("negated", memory.is_negated),
        ("sensitive", memory.sensitivity >= UNCOMPRESSED),
        ("what always holds, as it was said", memory.ground is not None),
    )
    return next((f"{memory.id} is {state}" for state, holds in states if holds), None)


_FRAME = ("category", "kind", "tier", "project", "speaker", "source", "day to speak of time from")


def _frame(memory: Memory, parameters: Parameters) -> tuple[str | int | None, ...]:
    """What all memories of a group have in common besides their words."""
    source = "assistant" if memory.source == "assistant" else None
    day = None
    if speaks_from_its_day(memory.content):
        day = datetime.fromtimestamp(memory.created_at // 1_000_000, ZoneInfo(parameters.time_zone)).toordinal()
    return memory.category, memory.kind, memory.tier, memory.project, memory.speaker, source, day


def framed_apart(a: Memory, b: Memory, parameters: Parameters) -> str | None:
    """What besides their words keeps two memories from being merged, or None."""
    pairs = zip(_FRAME, _frame(a, parameters), _frame(b, parameters), strict=True)
    return next((f"different {name}" for name, of_a, of_b in pairs if of_a != of_b), None)


def _tied(a: Memory, b: Memory) -> str | None:
    """What ties two memories so that one cannot stand for the other, or None."""
    if not set(a.unmerged_from).isdisjoint(b.unmerged_from):
        return "somebody took their merge apart"
    if a.id == b.id:
        return "the same memory"
    for one, other in ((a, b), (b, a)):
        names = {other.id, *other.merged_from}
        if names.intersection((one.corrects, one.superseded_by, *(entry.replaced_by for entry in one.negations))):
            return f"{one.id} and {other.id} are linked by a correction"
        if names.intersection(one.summarises):
            return f"{one.id} summarises {other.id}"
        if names.intersection(one.conflicts):
            return f"{one.id} and {other.id} may contradict each other"
    return None


def _worded_apart(a: str, b: str) -> str | None:
    if a == b:
        return None
    return "opposite polarity" if opposite(a, b) else difference(a, b)


def _unlike(a: str, b: str, least: float) -> str | None:
    similar = similarity(a, b)
    return f"similarity {similar:.2f} is under {least:g}" if similar < least else None


def merge_groups(memories: Sequence[Memory], parameters: Parameters, check: Check = unchecked) -> list[Group]:
    """Groups in which any two may be merged, no memory in two; newest base first, whatever the order of the memories.

    From the newest memory (`last_activated_at`, then `created_seq`) down, each that is free takes what is most like it.
    """
    same: dict[tuple[object, ...], list[int]] = defaultdict(list)
    newest = sorted(range(len(memories)), key=lambda place: _newest_first(memories[place]))
    for place in counted(newest, check, len(newest), every=_WORDINGS):
        if _unfit(memories[place]) is None:
            same[frame_of(memories[place], parameters)].append(place)
    groups = [
        group for places in same.values() if len(places) > 1 for group in _grouped(memories, places, parameters, check)
    ]
    return sorted(groups, key=lambda group: _newest_first(memories[group.base_index]))


def _newest_first(memory: Memory) -> tuple[int, int, str]:
    return -memory.last_activated_at, -memory.created_seq, memory.id


def frame_of(memory: Memory, parameters: Parameters) -> tuple[object, ...]:
    """What two memories that may be merged have in common: their frame, and the same words in any order."""
    return _frame(memory, parameters), *sorted(wording(memory.content))


def _grouped(memories: Sequence[Memory], places: list[int], parameters: Parameters, check: Check) -> Iterator[Group]:
    """The groups among memories of one frame and the same words in any order; places newest first."""
    bags = {place: bag_of(memories[place].content) for place in places}
    free = places
    while len(free) > 1:
        base, *offered = free
        similar = {place: alike(bags[base], bags[place]) for place in offered}
        members = [base]
        nearest = sorted(offered, key=lambda place: -similar[place])
        for place in counted(nearest, check, len(nearest), every=_WORDINGS):
            if len(members) == MAX_SOURCES:
                break
            if all(_fits(memories, bags, place, member, parameters.merge_similarity) for member in members):
                members.append(place)
        if len(members) > 1:
            yield Group(base, tuple(members), similar[members[-1]])
        taken = set(members)
        free = [place for place in free if place not in taken]


def _fits(memories: Sequence[Memory], bags: dict[int, Bag], one: int, other: int, least: float) -> bool:
    """Whether two memories that are fit and of one frame may be merged."""
    a, b = memories[one], memories[other]
    return alike(bags[one], bags[other]) >= least and not _tied(a, b) and not _worded_apart(a.content, b.content)
