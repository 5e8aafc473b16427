"""What one look at a partition's log tells: a table, and that a whole log is never blamed."""

from __future__ import annotations

import pytest

from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import LogGap
from engramlog_server.events.redis.durability import gap_of, refuse_holes
from tests.rows import each_row


@each_row(
    ("look", "folded", "told"),
    [
        ([b"5", 5, b"1-0", b"5-0"], 5, None),
        ([b"5", 5, b"1-0", b"5-0"], 0, None),
        ([b"0", 0, b"", b""], 0, None),
        ([b"5", 0, b"", b""], 0, "is empty, though 5 events were appended"),
        ([b"0", 0, b"", b""], 3, "is empty"),
        ([b"5", 4, b"2-0", b"5-0"], 0, "begins at 2: the 1 entries before that are gone"),
        ([b"5", 4, b"1-0", b"5-0"], 0, "ends at 5 and has 4 entries: 1 are gone"),
        ([b"5", 6, b"1-0", b"5-0"], 0, "1 of them no append wrote"),
        ([b"5", 3, b"1-0", b"3-0"], 0, "ends at 3, though 5 events were appended"),
        ([b"5", 6, b"1-0", b"900-0"], 0, "the entry 900, beyond its head 5"),
        ([b"5", 5, b"1-0", b"5-1"], 0, "the entry 5-1, which no append wrote"),
        ([b"5", 5, b"1-7", b"5-0"], 0, "the entry 1-7, which no append wrote"),
        ([b"3", 3, b"1-0", b"3-0"], 5, "ends at 3, though it was folded up to 5"),
        ([b"x", 3, b"1-0", b"3-0"], 0, "its head is b'x'"),
        ([b"hash"], 0, "a hash stands in the place of its log"),
    ],
)
def test_a_look_at_a_log_says_what_is_wrong_with_it(look: list[object], folded: int, told: str | None) -> None:
    found = gap_of(look, folded)
    assert (found is None) if told is None else (told in (found or ""))


def _stored(*seqs: int) -> list[Stored]:
    return [Stored(seq, "x.1", bytes(16), "alice", b"{}", ()) for seq in seqs]


@each_row(("seqs", "missing"), [((5, 6, 8), 7), ((6, 7), 5), ((9,), 5)])
def test_entries_that_do_not_follow_on_each_other_are_refused_and_the_first_missing_is_named(
    seqs: tuple[int, ...], missing: int
) -> None:
    refuse_holes(_stored(5, 6, 7), 4, "e0")
    with pytest.raises(LogGap, match=f"no entry {missing},"):
        refuse_holes(_stored(*seqs), 4, "e0")
