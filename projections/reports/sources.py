"""Who spoke to an owner, each source in figures, and what setting one aside does to the owner's memories. Pure.

Names are those that events tell of sessions, principals, actors, models and sources. Producers choose them, so no more than so many
different ones of a kind are held; what others did is summed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from engramlog_server.events.catalogue import MemoryCreated, MemoryMerged
from engramlog_server.events.entry import model_of
from engramlog_server.events.envelope import AnyEvent, Stored, lateness, micros
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.sources import Aside, Asides, NamedSource
from engramlog_server.projections.reports.strikes import MOST_NAMES, names_of
from engramlog_server.projections.views.set_aside import SetAside
from engramlog_server.projections.views.view import OwnerView

By = Literal["session", "principal", "actor", "model", "source"]
"""What a name is; in the plural the field of `Strikes` that takes it."""
BY: tuple[By, ...] = get_args(By)
_BY_FIELD: Mapping[str, By] = {f"{by}s": by for by in BY}


@dataclass(slots=True)
class SourceCounts:
    """One source in figures. Times are microseconds since 1970."""

    by: By
    name: str
    first_happened: int
    last_happened: int
    first_recorded: int
    last_recorded: int
    events: int = 0
    memories: int = 0
    """Of which its events were the first to tell."""
    late: int = 0

    def add(self, happened: int, recorded: int, *, made: int, late: bool) -> None:
        """One more event."""
        self.events += 1
        self.memories += made
        self.late += late
        self.first_happened = min(self.first_happened, happened)
        self.last_happened = max(self.last_happened, happened)
        self.first_recorded = min(self.first_recorded, recorded)
        self.last_recorded = max(self.last_recorded, recorded)


@dataclass(slots=True)
class SourcesGathered:
    """What an owner's events tell of their sources, taken in event by event in the order of the log."""

    by: Collection[str] = BY
    """Which of `BY` are gathered."""
    matches: Callable[[str], bool] | None = None
    """Whether a name is asked for; None: each is."""
    most: int = MOST_NAMES
    """Different names of a kind that are held: the first that are met."""
    found: dict[tuple[str, str], SourceCounts] = field(default_factory=dict)
    left_out: dict[By, int] = field(default_factory=dict)
    """Events that tell a name for which there was no room, by what the name is."""
    withheld: int = 0
    """Events that tell a name that may not be told."""
    events: int = 0
    """That count."""
    _held: dict[str, int] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)

    def take(self, one: Stored, event: AnyEvent, *, counts: bool = True, hidden: Collection[str] = ()) -> None:
        """The next event. One that does not count takes from later ones what they would be the first to tell.

        `hidden`: names of sources that may not be told of this event.
        """
        made = self._makes(event)
        if not counts:
            return
        self.events += 1
        happened, recorded = micros(event.occurred_at), one.recorded
        late, crowded, is_hidden = lateness(happened, recorded) is not None, set[By](), False
        for name_field, name in names_of(one, event):
            by = _BY_FIELD.get(name_field)
            if by is None or by not in self.by:
                continue
            if by == "source" and name in hidden:
                is_hidden = True
            elif (counted := self._counts(by, name, happened, recorded, crowded)) is not None:
                counted.add(happened, recorded, made=made, late=late)
        self.withheld += is_hidden
        for by in crowded:
            self.left_out[by] = self.left_out.get(by, 0) + 1

    def _counts(self, by: By, name: str, happened: int, recorded: int, crowded: set[By]) -> SourceCounts | None:
        known = self.found.get((by, name))
        if known is not None or (self.matches is not None and not self.matches(name)):
            return known
        if self._held.get(by, 0) >= self.most:
            crowded.add(by)
            return None
        self._held[by] = self._held.get(by, 0) + 1
        self.found[by, name] = known = SourceCounts(by, name, happened, happened, recorded, recorded)
        return known

    def _makes(self, event: AnyEvent) -> int:
        """How many memories an event is the first to tell."""
        data = event.data
        made = (
            data.memory_id if isinstance(data, MemoryCreated) else data.into if isinstance(data, MemoryMerged) else None
        )
        if made is None or made in self._made:
            return 0
        self._made.add(made)
        return 1

    def ordered(self) -> list[SourceCounts]:
        """By what happened last, the newest first; then by name, then by what the name is."""
        return sorted(self.found.values(), key=lambda one: (-one.last_happened, one.name, BY.index(one.by)))


class NamedAside(NamedTuple):
    """What is set aside of a source."""

    whole: Aside | None
    """That all of it is."""
    parts: int
    """How many stand that withhold a part of it: named together with something else, or a model's principal."""


NOT_ASIDE = NamedAside(None, 0)


def asides_by_name(asides: Asides) -> Mapping[tuple[str, str], NamedAside]:
    """What is set aside today of each source that is named in it."""
    found: dict[tuple[str, str], NamedAside] = {}
    for one in asides:
        if not one.stands:
            continue
        named = {by: name for by in ("session", "principal", "actor") if (name := getattr(one.source, by)) is not None}
        alone = len(named) == 1
        if model := model_of(named.get("principal", "")):
            named["model"] = model
        for by, name in named.items():
            whole, parts = found.get((by, name), NOT_ASIDE)
            is_whole = alone and by != "model"
            found[by, name] = NamedAside(one if is_whole else whole, parts + (not is_whole))
    return found


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
