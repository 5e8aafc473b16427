"""Blocks of entries lead to every pack with an entry about a memory."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.past.moments import read_head, stored_head
from engramlog_server.projections.redis.history import (
    BLOCK_ENTRIES,
    BlockMaker,
    EntryHead,
    read_block,
    sum_of,
)
from tests.rows import each_row

IDS = [f"m{number}" for number in range(6)]
PACKS = st.lists(st.lists(st.sampled_from(IDS), max_size=4), min_size=1, max_size=12)
"""Of each pack, whom its entries are about."""


def entry(memory_id: str) -> Entry:
    return Entry(1, b"", 0, 0, memory_id, 0, "", (), 0, b"", None, None, ())


@given(PACKS, st.data())
def test_the_packs_told_of_a_memory_are_those_that_hold_its_entries(
    packs: list[list[str]], data: st.DataObject
) -> None:
    names = [3 * number + 2 for number in range(len(packs))]
    maker, stored = BlockMaker(EntryHead()), []
    for name, about in zip(names, packs, strict=True):
        maker.put(name, [entry(one) for one in about])
        if data.draw(st.booleans()):
            stored.append(maker.block())
    stored.append(maker.block())
    blocks = [read_block(one.block) for one in stored if one is not None]
    for memory_id in IDS:
        told = {name for block in blocks for name in block.packs_of({sum_of(memory_id)})}
        assert told == {name for name, about in zip(names, packs, strict=True) if memory_id in about}


def test_a_block_ends_with_the_pack_that_fills_it_and_the_head_says_how_far_they_reach() -> None:
    maker = BlockMaker(EntryHead(7, 100, 1))
    half = [entry("m")] * (BLOCK_ENTRIES // 2)
    assert maker.put(11, half) is None
    made = maker.put(15, half)
    assert made is not None
    assert made.head == EntryHead(15, 100 + BLOCK_ENTRIES, 2)
    assert read_head(EntryHead, stored_head(made.head)) == made.head


@each_row("read", [read_block, partial(read_head, EntryHead)])
def test_a_bit_that_changed_is_seen(read: object) -> None:
    maker = BlockMaker(EntryHead())
    maker.put(4, [entry("m")])
    made = maker.block()
    assert made is not None
    raw = made.block if read is read_block else stored_head(made.head)
    for at in range(len(raw)):
        with pytest.raises(ValueError, match="sum"):
            read(bytes([*raw[:at], raw[at] ^ 4, *raw[at + 1 :]]))  # type: ignore[operator]
