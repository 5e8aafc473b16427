"""Two readings of one owner beside each other: where each memory stands on either, and how questions rank. Pure.

A side is a view and the instant at which it is read: of two moments, or of what was and what would be without some events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from projections.checks import Check, counted, unchecked
from projections.laws.modes import REASONS, Mode
from projections.memory.record import LEVELS, SECRET, Memory
from projections.memory.trust import trust_told
from projections.ranking.recall import search
from projections.ranking.search_request import ALONE
from projections.shapes import QuestionMoved, RankMoved, SidesDiffer, SideStanding
from projections.views.corrected import seen_at
from projections.views.query import ViewQuery, status
from projections.views.view import OwnerView

_TOLD = ("content", "summary", "keywords", "tags", "category", "kind", "tier", "confidence", "sensitivity")
"""Fields of a record that somebody said, and may say otherwise."""
_WORDS = frozenset({"content", "summary", "keywords", "tags"})


class Side(NamedTuple):
    """One reading of an owner."""

    view: OwnerView
    now: int
    """Microseconds since 1970."""


class Difference(NamedTuple):
    """A memory that stands otherwise on two sides, or on one alone."""

    id: str
    before: SideStanding | None
    after: SideStanding | None
    fields: tuple[str, ...]
    """What it says that differs, by the names of the record; empty where one side lacks it."""
    made: int
    """Seq of the event that made it."""

    @property
    def by_time_alone(self) -> bool:
        """Whether nothing but its weight differs: it may be the same record, read at another instant."""
        return not self.fields and self.otherwise == ["weight"]

    @property
    def otherwise(self) -> list[str]:
        """Names of what differs of where it stands; all where one side lacks it."""
        one, other = self.before, self.after
        if one is None or other is None:
            return list(one or other or ())
        return [name for name in one if one[name] != other[name]]  # type: ignore[literal-required]

    def told(self) -> SidesDiffer:
        """As answers tell it."""
        return {"id": self.id, "before": self.before, "after": self.after, "fields": list(self.fields)}


def side_standings(side: Side, mode: Mode) -> dict[str, SideStanding]:
    """Memory -> where it stands. `shown` and `reason` are those of the mode where nothing is asked; weights are unclipped."""
    view = side.view
    seen = seen_at(view, side.now, mode)
    rows = zip(view.columns, seen.weights.tolist(), seen.levels.tolist(), seen.reasons.tolist(), strict=True)
    return {
        memory.id: {
            "weight": round(weight, 6),
            "level": LEVELS[level],
            "status": status(memory),
            "trust": trust_told(memory),
            "is_negated": memory.is_negated,
            "mention_count": memory.mention_count,
            "shown": reason < 0,
            "reason": None if reason < 0 else REASONS[reason],
        }
        for memory, weight, level, reason in rows
    }


def differing(before: Side, after: Side, mode: Mode, check: Check = unchecked) -> Iterator[Difference]:
    """The memories that stand otherwise on the two sides, or on one alone: those of the first side first, in its order."""
    first, second = side_standings(before, mode), side_standings(after, mode)
    ids = dict.fromkeys([*first, *second])
    for memory_id in counted(ids, check, len(ids)):
        one, other = before.view.get(memory_id), after.view.get(memory_id)
        fields = _fields(one, other)
        here, there = first.get(memory_id), second.get(memory_id)
        if here != there or fields:
            memory = one or other
            yield Difference(memory_id, here, there, fields, 0 if memory is None else memory.created_seq)


def _fields(one: Memory | None, other: Memory | None) -> tuple[str, ...]:
    """What the two say otherwise. Of a secret no more is told than that its words differ."""
    if one is None or other is None or one is other:
        return ()
    names = tuple(name for name in _TOLD if getattr(one, name) != getattr(other, name))
    if max(one.sensitivity, other.sensitivity) < SECRET:
        return names
    kept = tuple(name for name in names if name not in _WORDS)
    return kept if len(kept) == len(names) else (*kept, "content")


def ranked(side: Side, query: str, mode: Mode, limit: int) -> list[str]:
    """Ids of a question's results by the words of it, the best first."""
    return [one["id"] for one in search(ViewQuery(side.view, side.now, mode), query, limit, ALONE)["results"]]


Rank = Callable[[Side, str, Mode, int], list[str]]
"""A question's results on a side, as `ranked` tells them: another one where vectors are compared too."""


def moved(
    before: Side,
    after: Side,
    queries: Sequence[str],
    mode: Mode,
    limit: int,
    check: Check = unchecked,
    rank: Rank = ranked,
) -> Iterator[QuestionMoved]:
    """Of each question the results on both sides, and what moved, came or went among them; ranks begin at 1."""
    for query in counted(queries, check, len(queries), every=1):
        one, other = rank(before, query, mode, limit), rank(after, query, mode, limit)
        ranks: list[RankMoved] = [
            {"id": name, "before": _rank(one, name), "after": _rank(other, name)} for name in dict.fromkeys(one + other)
        ]
        moves = [rank for rank in ranks if rank["before"] != rank["after"]]
        yield {"query": query, "before": one, "after": other, "moved": moves}


def _rank(ids: list[str], name: str) -> int | None:
    return ids.index(name) + 1 if name in ids else None
