"""Events in columns: stored in blocks they come back as they were, and which count is what the definition says of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import EVENT_TYPES
from engramlog_server.events.envelope import Stored, decode, micros
from engramlog_server.events.errors import UndecodableEvent
from engramlog_server.projections.past.folding import (
    BLOCK,
    EventsHead,
    Lines,
    OwnerEvents,
    blocks_of,
    events_of,
    no_events,
    number_of,
    read_blocks,
    stored_block,
)
from tests.examples import examples
from tests.given.events import created, mentioned, negated, stored
from tests.given.histories import histories
from tests.rows import each_row

QUICK = settings(deadline=None, max_examples=examples(60))


def lines_of_many(many: int) -> OwnerEvents:
    seed = np.random.default_rng(7)
    seqs = np.cumsum(seed.integers(1, 9, many))
    happened = seed.integers(-(2 << 50), 2 << 50, many)
    recorded = np.where(seed.random(many) < 0.1, 0, 1_700_000_000_000_000 + seqs * 1_000)
    return OwnerEvents(
        seqs, happened, recorded, (seed.integers(0, 35, many) + 128 * (seed.random(many) < 0.1)).astype(np.uint8)
    )


def columns_of(entries: list[Stored]) -> OwnerEvents:
    return events_of(entries, lambda _position: True)


def rows(lines: OwnerEvents) -> list[Any]:
    columns = (lines.seqs, lines.happened, lines.recorded, lines.marks)
    return [one.tolist() for one in columns]


@each_row("many", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
def test_blocks_bring_back_what_was_stored(many: int) -> None:
    lines = lines_of_many(many)
    blocks: list[bytes | None] = [stored_block(lines, number) for number in range(blocks_of(many))]
    assert rows(read_blocks(EventsHead(many), blocks)) == rows(lines)
    if many:  # somebody went on since the head was read
        assert rows(read_blocks(EventsHead(many - 1), blocks[: blocks_of(many - 1)])) == rows(lines.first(many - 1))


def test_a_block_that_is_damaged_cut_or_missing_is_refused() -> None:
    lines = lines_of_many(50)
    whole = stored_block(lines, 0)
    for at in range(len(whole)):
        with pytest.raises(ValueError, match=r"sum|block"):
            read_blocks(EventsHead(50), [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]])
    for broken in (None, b"", whole[:-1], stored_block(lines.first(49), 0)):
        with pytest.raises(ValueError, match=r"sum|block"):
            read_blocks(EventsHead(50), [broken])


@QUICK
@given(
    histories,
    st.none() | st.integers(0, 12),
    st.none() | st.integers(0, 90),
    st.none() | st.integers(0, 12),
)
def test_what_counts_is_what_the_lines_say_of_each_event(
    history: Any, seq: int | None, day: int | None, recorded: int | None
) -> None:
    entries = [
        one._replace(beside=(b"%d" % (1_000 + number), b"local", b"1:0", b"", b""))
        for number, one in enumerate(stored(history))
    ]
    happened = None if day is None else micros(decode(entries[0].kind, entries[0].body).occurred_at) + day
    bounds = Lines(happened, seq, None if recorded is None else 1_000 + recorded)
    lines = columns_of(entries)
    expected = [bounds.counts(one, decode(one.kind, one.body)) for one in entries]
    assert lines.on_lines(bounds).tolist() == expected


def test_every_type_of_the_catalogue_has_a_number_that_stays() -> None:
    assert [number_of(one) for one in EVENT_TYPES] == list(range(len(EVENT_TYPES)))
    assert (number_of("TurnRecorded"), number_of("MemoryCreated"), number_of("ReviewSettled")) == (0, 2, 34)


def test_events_follow_on_each_other_and_a_body_that_cannot_be_read_is_told() -> None:
    entries = stored([created(day=1), mentioned(day=3), negated(day=2)])
    whole = columns_of(entries)
    assert rows(no_events().followed_by(columns_of(entries[:1])).followed_by(columns_of(entries[1:]))) == rows(whole)
    with pytest.raises(UndecodableEvent):
        columns_of([entries[0]._replace(body=b"{}")])
