"""What an act that undoes comes to, before it is written: the owner after it, beside how it is and how a replay has it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, cast

from engramlog_server.events.envelope import AnyEvent, Stored, encode
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.owner import OwnerHistory, OwnerState, fold_on
from engramlog_server.projections.language.statements import statement_field
from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.memory.record import Memory, encode_memory
from engramlog_server.projections.past.moments import KeptMemories
from engramlog_server.projections.reports.sides import Difference, Side, differing
from engramlog_server.projections.views.view import OwnerView

NORMAL: Mode = "normal"


class MemoriesMoved(NamedTuple):
    """What an act does to what normal mode shows; ids, in the order in which the memories came to be."""

    go: tuple[str, ...]
    """Shown, and shown no more."""
    come_back: tuple[str, ...]
    """Shown again, or for the first time."""
    change: tuple[str, ...]
    """Stand otherwise and are shown, or not, as before."""
    otherwise: Mapping[str, int]
    """In what these stand otherwise, by the names of where a memory stands and of its record -> how many do."""

    @property
    def ids(self) -> tuple[tuple[str, ...], ...]:
        """All of them."""
        return self.go, self.come_back, self.change


def as_folded(view: OwnerView) -> KeptMemories:
    """The owner's records as their own events made them, each decoded when somebody reads it: an owner may have 100,000."""
    memories = view.columns.memories
    records = [*map(encode_memory, memories)]
    for row in view.columns.rows(view.read_otherwise).tolist():
        records[row] = encode_memory(view.as_folded(memories[row]))
    return KeptMemories.of_records(view.columns.ids, records)


def packed(history: OwnerHistory) -> OwnerHistory:
    """The same with its records encoded. `history` is used up: no more of it than one record stands twice."""
    memories = cast("dict[str, Memory]", history.memories)
    ids = list(memories)
    return history._replace(memories=KeptMemories.of_records(ids, [encode_memory(memories.pop(one)) for one in ids]))


def after(
    owner: str, state: OwnerState, memories: KeptMemories, events: Iterable[AnyEvent], seq: int, secret: bytes
) -> OwnerHistory:
    """The owner once these events are folded behind `seq`, as a person said them. `memories`: as they are folded."""
    stored = (
        Stored(
            number,
            f"{one.type}.{one.schema_version}",
            bytes.fromhex(one.event_id.replace("-", "")),
            owner,
            encode(one),
            (b"0", b"", b"", statement_field(one.data, secret), b""),
        )
        for number, one in enumerate(events, seq + 1)
    )
    found = memories.copy()
    for _, step in fold_on(state, found, stored, lambda _one, _event: True, secret=secret):
        state = step.owner
    return OwnerHistory(state, found, [], 0)


def moved_by(before: Side, done: Side, check: Check = unchecked) -> MemoriesMoved:
    """What an act does."""
    go, back, change = list[str](), list[str](), list[str]()
    otherwise = Counter[str]()
    for one in differing(before, done, NORMAL, check):
        was, is_now = one.before is not None and one.before["shown"], one.after is not None and one.after["shown"]
        (change if was == is_now else go if was else back).append(one.id)
        if was == is_now:
            otherwise.update(one.names)
    return MemoriesMoved(tuple(go), tuple(back), tuple(change), dict(otherwise.most_common()))


def remaining(done: Side, replayed: Side, check: Check = unchecked) -> Iterator[Difference]:
    """The memories that an act leaves otherwise than they would stand without what is struck.

    One that would never have been is undone where normal mode does not show it.
    """
    for one in differing(done, replayed, NORMAL, check):
        if one.after is not None or (one.before is not None and one.before["shown"]):
            yield one
