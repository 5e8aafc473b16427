"""What readers and jobs made to find things in an owner's change log, against the change log itself."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from consumers.verify.moments import times_fields
from consumers.verify.verdict import Findings
from events.errors import DamagedState
from events.redis.wire import Wire
from projections.fold.builds import BuildKeys
from projections.fold.changelog import unpack
from projections.past.entry_blocks import EntryHead, sum_of
from projections.redis.entry_index import HEAD, blocks, read_entry_head
from projections.redis.moments import read_head_of_times
from projections.redis.on_lines import LINES, read_head_of_lines

Pairs = set[tuple[int, int]]
"""Sums of memory ids with names of packs."""


class StoredIndex(NamedTuple):
    """What an owner's index tells."""

    head: EntryHead
    pairs: Pairs


def read_index(wire: Wire, keys: BuildKeys, owner: str, verdict: Findings) -> StoredIndex | None:
    """The index as it is stored; None where it cannot be read, which is told."""
    fields = {name.decode("utf-8", "backslashreplace") for name in wire.call("HKEYS", keys.index(owner))}
    try:
        head = read_entry_head(wire, keys, owner)
        pairs = {pair for block in blocks(wire, keys, owner, head) for pair in block.pairs()}
        of_times = times_fields(read_head_of_times(wire, keys, owner).events)
        of_times |= times_fields(read_head_of_lines(wire, keys, owner).events, LINES)
    except DamagedState as error:
        verdict.differs("an index of a change log that cannot be read", owner=owner, problem=error.message)
        return None
    known = {HEAD, *(f"{HEAD}:{number + 1}" for number in range(head.blocks))} if head.blocks else set[str]()
    if unknown := sorted(fields - known - of_times):
        verdict.differs("fields of an index that nothing writes", owner=owner, fields=unknown[:20])
    return StoredIndex(head, pairs)


def compare_index(owner: str, stored: StoredIndex, packs: Sequence[tuple[bytes, bytes]], verdict: Findings) -> None:
    """Tell where the index is not what its change log makes of it. `packs`: read after the index, and readable."""
    if not stored.head.blocks:
        return
    told = {int(name): {sum_of(entry.memory_id) for entry in unpack(raw)[1]} for name, raw in packs}
    names = sorted(told)
    noted = {(one, names[at]) for one, name in stored.pairs if (at := bisect_left(names, name)) < len(names)}
    last = bisect_left(names, stored.head.last)
    # The last pack may have grown since.
    whole = {(one, name) for name in names[:last] for one in told[name]}
    there = whole | {(one, name) for name in names[last : last + 1] for one in told[name]}
    if not whole <= noted <= there or last == len(names):
        verdict.differs("an index that does not tell what its change log holds", owner=owner)
