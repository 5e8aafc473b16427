"""A view as a caller sees it whose grants are narrower than the owner's memories. Pure.

By mode: what the mode hides at the instant of the question cannot be had by its id, and leaves no words beside other memories.
By sensitivity: what is above the ceiling is not there at all, for search, lists and numbers alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from itertools import compress
from typing import Any, cast

import msgspec
import numpy as np

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from engramlog_server.projections.laws.modes import Mode, withheld_by_age
from engramlog_server.projections.memory.columns import GONE, Columns, Flags
from engramlog_server.projections.memory.record import SUMMARY, Memory, with_changes
from engramlog_server.projections.views.query import seen_at, strengths
from engramlog_server.projections.views.view import OwnerView


class _Hidden(Collection[str]):
    """Ids of which no word may be told: those that the view knows, and those that it hides."""

    def __init__(self, known: Collection[str], hides: Callable[[str], bool]) -> None:
        self._known, self._hides = known, hides

    def __contains__(self, name: object) -> bool:
        return name in self._known or (isinstance(name, str) and self._hides(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class ShownView:
    """An owner's view in which what a mode hides at an instant is as if unknown. It shares all that the view has."""

    def __init__(self, view: OwnerView, now: int, mode: Mode) -> None:
        """`now`: microseconds since 1970."""
        self._view, self._now, self._mode = view, now, mode

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def __len__(self) -> int:
        return len(self._view)

    @cached_property
    def _shown(self) -> Flags:
        """By row; worked out when somebody asks. What is only long ago is no secret of a mode: any search may bring it up."""
        seen = seen_at(self._view, self._now, self._mode, secret=False)
        found: Flags = seen.shown | withheld_by_age(self._view.columns, seen)
        return found

    def get(self, memory_id: str) -> Memory | None:
        """A memory by id, where the mode shows it."""
        return None if self.hides(memory_id) else self._view.get(memory_id)

    def hides(self, memory_id: str) -> bool:
        """Whether there is such a memory, and the mode hides it."""
        row = self._view.columns.row(memory_id)
        if row is None or ("_shown" not in vars(self) and self._stands(row)):
            return False
        return not bool(self._shown[row])

    def _stands(self, row: int) -> bool:
        """Whether nothing but its age could withhold a row, as of most: that is seen without weighing all."""
        columns = self._view.columns
        held = columns.state[row] == Columns.LIVE and columns.conflict[row] == Columns.HELD
        told = columns.told_level[row] <= SUMMARY and not columns.ground_changed[row]
        return bool(held and told and strengths(self._view)[row] < GONE)

    def hidden(self) -> frozenset[str]:
        """Ids of all that the mode hides: for whoever asks on when the view is let go."""
        return frozenset(compress(self._view.columns.ids, ~self._shown))

    def told(self, rows: Flags) -> Flags:
        """Those of these rows that the mode shows."""
        found: Flags = rows & self._shown
        return found

    @property
    def is_narrowed(self) -> bool:
        """That something may be hidden."""
        return True

    @property
    def purged_since(self) -> Collection[str]:
        """What is hidden takes the words with it that were said of it beside others."""
        return _Hidden(self._view.purged_since, self.hides)


def shown_by(view: OwnerView, now: int, mode: Mode) -> OwnerView:
    """The view as a mode shows it at an instant, microseconds since 1970."""
    return cast("OwnerView", ShownView(view, now, mode))


def up_to(view: OwnerView, most: int, today: OwnerView | None = None, check: Check = unchecked) -> OwnerView:
    """A view of its own without what is more sensitive than `most`, nor any words that look so beside what is not.

    `today`: of a past, the owner's view now: what is more sensitive today is not told of then either. It is made of the records as
    they read in the view, for what is left out may decide how others read.
    """
    above = np.flatnonzero(view.columns.sensitivity > most)
    gone = {view.columns.memories[row].id for row in above.tolist()}
    if today is not None and today is not view:
        rows = np.flatnonzero(today.columns.sensitivity > most)
        gone |= {today.columns.memories[row].id for row in rows.tolist()}
    kept = [
        _worded(one, most)
        for one in counted(view.columns.memories, check, len(view))
        if one.id not in gone and _speaks_of_none(one, gone)
    ]
    return view.holding(kept, gone)


def _speaks_of_none(memory: Memory, gone: set[str]) -> bool:
    """Whether it is made of nothing that is left out: a merge, an account or a pattern says what its sources say."""
    return gone.isdisjoint(memory.merged_from) and gone.isdisjoint(memory.summarises)


def _worded(memory: Memory, most: int) -> Memory:
    """The memory without words beside its text that are too sensitive: reasons, older versions, what it rests on, triples."""

    def fits(*texts: object) -> bool:
        return detect_sensitivity(" ".join(str(one) for one in texts if one)) <= most

    negations = tuple(
        msgspec.structs.replace(
            one,
            reason=one.reason if fits(one.reason) else "",
            new_preference=one.new_preference if fits(one.new_preference) else None,
        )
        for one in memory.negations
    )
    basis = memory.basis
    if basis is not None and not fits(basis.because, *basis.grounds, *basis.metadata):
        basis = None
    return with_changes(
        memory,
        negations=negations,
        versions=tuple(one for one in memory.versions if fits(one.content, one.summary)),
        facts=tuple(one for one in memory.facts if fits(one.subject, one.predicate, one.object, one.condition)),
        basis=basis,
    )
