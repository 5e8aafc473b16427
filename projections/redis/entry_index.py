"""An owner's blocks of entries (`projections.past.entry_blocks`) as they are stored: read, and made when needed.

They are made of packs, which never change; a change log's tail is none. Each is written only behind the one before, so two who
make the same do no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

from engramlog_server.events.errors import DamagedState
from engramlog_server.events.redis.wire import Wire, WirePool
from engramlog_server.events.text.unreadable import UNREADABLE
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.fold.builds import BuildKeys
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.past.entry_blocks import (
    Blocked,
    BlockMaker,
    EntryBlock,
    EntryHead,
    read_block,
    read_head,
    stored_head,
    sum_of,
)
from engramlog_server.projections.redis.made import write_made

HEAD = "entries"
"""The field with how far the blocks reach; a block's is `entries:` and its number from 1."""
WORTH = 2_048
"""Entries beyond the blocks from which on a reader makes blocks of them."""
AT_ONCE = 32
_T = TypeVar("_T")


def told_of(wires: WirePool, keys: BuildKeys, owner: str, ids: Collection[str]) -> tuple[int, set[int]]:
    """The name of the last pack in the blocks, and the names of packs that have these memories.

    Raises DamagedState where the blocks cannot be read.
    """
    sums, found = {sum_of(one) for one in ids}, set[int]()
    with wires.wire() as wire:
        head = read_entry_head(wire, keys, owner)
        for block in blocks(wire, keys, owner, head):
            found |= block.packs_of(sums)
    return head.last, found


def read_entry_head(wire: Wire, keys: BuildKeys, owner: str) -> EntryHead:
    """How far the blocks reach."""
    raw = wire.call("HGET", keys.index(owner), HEAD)
    return _readable(owner, raw, read_head)


def blocks(wire: Wire, keys: BuildKeys, owner: str, head: EntryHead) -> Iterator[EntryBlock]:
    """The blocks, some at a time."""
    for start in range(0, head.blocks, AT_ONCE):
        fields = [f"{HEAD}:{number + 1}" for number in range(start, min(start + AT_ONCE, head.blocks))]
        for raw in wire.call("HMGET", keys.index(owner), *fields):
            yield _readable(owner, raw or b"", read_block)


def make_blocks(
    wires: WirePool,
    keys: BuildKeys,
    owner: str,
    entries: int,
    packs: Callable[[int], Iterable[tuple[int, list[Entry]]]],
    *,
    worth: int = WORTH,
    check: Check = unchecked,
) -> None:
    """Make blocks of what lies beyond them, of `entries` in all, where that are as many as is `worth` it.

    `packs`: those of a higher name than told, in order. What is made when `check` ends it stays.
    """
    with wires.wire() as wire:
        head = read_entry_head(wire, keys, owner)
    if entries - head.entries < worth:
        return
    maker = BlockMaker(head)

    def written(before: EntryHead, made: Blocked | None) -> bool:
        if made is None:
            return True
        values = (HEAD, stored_head(made.head), f"{HEAD}:{made.head.blocks}", made.block)
        return write_made(wires, keys, owner, keys.index(owner), (HEAD, stored_head(before)), values)

    for name, told in packs(head.last):
        check(maker.head.entries, entries)
        if not written(maker.head, maker.put(name, told)):
            return
    written(maker.head, maker.block())


def _readable(owner: str, raw: bytes, read: Callable[[bytes], _T]) -> _T:
    try:
        return read(raw)
    except (*UNREADABLE, ValueError) as error:
        raise DamagedState(
            f"the index of the change log of owner {owner} cannot be read ({error}); `engramlog rebuild` makes it anew",
            owner=owner,
        ) from error
