"""Stored bytes that are damaged are told as that, whatever the reader's library raises at them."""

from __future__ import annotations

from random import Random

import pytest

from engramlog_server.events.envelope import Stored, decode
from engramlog_server.events.errors import DamagedState, UndecodableEvent
from engramlog_server.projections.memory.record import encode_memory
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.store import read_owner, read_record
from engramlog_server.projections.views.event_words import UNTOLD, telling
from tests.given.events import created, folded
from tests.given.samples import mention

KEYS = BuildKeys("e0", FIRST_BUILD)
NO_TEXT = b"\xe2\x28"
"""No UTF-8."""


def test_a_record_with_a_text_that_is_none_is_damaged_state() -> None:
    raw = encode_memory(folded(created("she likes tea", of="m1")).memories["m1"])
    assert read_record(KEYS, "ada", "m1", raw).content == "she likes tea"
    with pytest.raises(DamagedState, match="the record of memory m1 of owner ada"):
        read_record(KEYS, "ada", "m1", raw.replace(b"tea", b"t" + NO_TEXT))


def test_any_bytes_are_a_record_or_an_owner_or_damaged_state() -> None:
    chance = Random(7)
    for _ in range(3_000):
        raw = bytes([0x90 | chance.randrange(16), *chance.randbytes(chance.randrange(60))])
        for read in (lambda raw=raw: read_record(KEYS, "ada", "m1", raw), lambda raw=raw: read_owner(KEYS, "ada", raw)):
            try:
                read()
            except DamagedState:
                continue


def test_of_an_event_whose_bytes_are_no_text_the_cause_is_unknown_and_decoding_says_so() -> None:
    event = mention(1, "ada")
    body = event.body.replace(b'"actor":"', b'"actor":"' + NO_TEXT)
    assert body != event.body
    assert telling(Stored(1, event.kind, event.raw_id, "ada", body, ())) == UNTOLD
    with pytest.raises(UndecodableEvent):
        decode(event.kind, body)
