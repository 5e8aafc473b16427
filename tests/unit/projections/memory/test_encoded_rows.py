"""Records that stand encoded weigh what they hold, whatever was done to them."""

from __future__ import annotations

from projections.memory.encoded_rows import EncodedRows
from projections.memory.record import encode_memory
from tests.given.events import created, folded


def test_a_row_that_is_set_again_and_again_weighs_as_one() -> None:
    memory = folded(created("I like tea", "m", 1)).memories["m"]
    raw = encode_memory(memory)
    rows = EncodedRows([raw, raw], 2 * len(raw))
    rows[0] = memory
    once = rows.bytes_used()
    for _ in range(10):
        rows[0] = memory
    assert rows.bytes_used() == once
