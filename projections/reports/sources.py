"""What setting a source aside does to an owner's memories, before or after it is done. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.sources import Aside, Asides, NamedSource
from engramlog_server.projections.views.set_aside import SetAside
from engramlog_server.projections.views.view import OwnerView


class SourceEffects(NamedTuple):
    """What comes from a source, and what it did to what does not. Ids, in the order in which the memories came to be."""

    withheld: tuple[str, ...]
    """Withheld while it is set aside."""
    negated: tuple[str, ...]
    """Negated by it: they stand meanwhile as if it had not."""
    revised: tuple[str, ...]
    """Put in other words by it: they tell their former ones meanwhile."""
    merged: tuple[str, ...]
    """Merged with words of it: they stand by themselves meanwhile."""
    deleted: tuple[str, ...]
    """Deleted by it: they stay so, and a person restores them."""


def effects_of(view: OwnerView, source: NamedSource, check: Check = unchecked) -> SourceEffects:
    """What setting aside this source alone does; linear in the owner's memories."""
    reading = SetAside()
    folded = [view.as_folded(one) for one in counted(view.columns, check, len(view.columns))]
    read = {one.id: one for one in reading.follow((Aside(source, 0, 0),), folded, ())}

    def which(holds: Callable[[Memory, Memory], bool]) -> tuple[str, ...]:
        return tuple(one.id for one in folded if read[one.id].aside_seq is None and holds(one, read[one.id]))

    return SourceEffects(
        tuple(one.id for one in folded if read[one.id].aside_seq is not None),
        which(lambda old, new: len(new.negations) < len(old.negations)),
        which(lambda old, new: (new.content, new.summary) != (old.content, old.summary)),
        which(lambda old, new: old.merged_into is not None and new.merged_into is None),
        which(lambda old, _: old.deleted_at is not None and source.wrote(old.deleted_by or old.author)),
    )


def withheld_by(asides: Asides, memories: Iterable[Memory]) -> dict[int, int]:
    """Position of each setting aside that stands -> how many memories it withholds; what several withhold counts for the first."""
    counts = {one.seq: 0 for one in asides if one.stands}
    for memory in memories:
        if memory.aside_seq is not None:
            counts[memory.aside_seq] = counts.get(memory.aside_seq, 0) + 1
    return counts
