"""The change log in another law's numbers: each change weighed before and after, as the stored one is under the weighted law. Pure.

An event has one entry for a memory at most, so a change is found again by its seq and its memory.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.fold.evolve import parameters_of
from engramlog_server.projections.fold.owner import FoldStep
from engramlog_server.projections.laws.law import Law
from engramlog_server.projections.memory.record import Memory


class ChangeWeights(NamedTuple):
    """What a law read at a change: unclipped weights, rounded to 6 decimals, and the factors of the one after."""

    old: float | None = None
    """None where there was no memory before."""
    new: float | None = None
    factors: dict[str, float] | None = None


NO_WEIGHTS = ChangeWeights()
"""Of a change that is about no memory."""


def weights_of(law: Law, before: Memory | None, after: Memory | None, at: int, parameters: Parameters) -> ChangeWeights:
    """Both weights at one instant: that of the event, or of the newest that the memory had met, where it came late."""
    if after is None:
        return NO_WEIGHTS
    instant = at if before is None else max(at, before.stamp)
    found = law.read(after, instant, parameters)
    new = round(found.unclipped, 6)
    old = None
    if before is not None:
        old = new if before is after else round(law.read(before, instant, parameters).unclipped, 6)
    return ChangeWeights(old, new, {name: round(value, 6) for name, value in found.factors.items()})


class LawReader:
    """Reads the wanted changes while a fold passes; it holds no more than these."""

    def __init__(self, law: Law, wanted: Collection[tuple[int, str]], base: Parameters = DEFAULTS) -> None:
        """`wanted`: seqs with ids of memories."""
        self._law, self._wanted, self._base = law, frozenset(wanted), base
        self._seqs = frozenset(seq for seq, _ in self._wanted)
        self.found: dict[tuple[int, str], ChangeWeights] = {}

    def took(self, step: FoldStep) -> None:
        """After each event."""
        seq = step.owner.seq
        if seq not in self._seqs:
            return
        parameters = parameters_of(step.owner.settings, self._base)
        for note, entry in zip(step.notes, step.entries, strict=True):
            key = seq, note.memory_id
            if key in self._wanted:
                self.found[key] = weights_of(self._law, note.before, note.after, entry.at, parameters)
