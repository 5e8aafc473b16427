"""What is sealed is compressed before: it expands to the same bytes, and damage is refused."""

from __future__ import annotations

import zlib
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.cipher import BODIES, MARK, VALUES, NotExpanded, compressed, expanded

TURN = (
    b'{"actor":"user","data":{"role":"user","text":"Next Monday I am going to Oslo with Mara, mostly because of the boiler.",'
    b'"turn_id":"t-01a22455-41ba-7253-ae97-de2b85d1ef85-1"},"event_id":"0cbde08f-d40c-5416-9bc8-2fbcacf1f878",'
    b'"occurred_at":"2026-11-28T22:44:56.891613Z","owner":"ada","schema_version":1,"session_id":"s0","type":"TurnRecorded"}'
)


@given(plain=st.binary(max_size=300) | st.binary(max_size=40).map(lambda some: some * 200), is_body=st.booleans())
def test_whatever_is_compressed_expands_to_itself(plain: bytes, is_body: bool) -> None:
    dictionary = BODIES if is_body else VALUES
    for one in (plain, MARK + plain):
        stored = compressed(one, dictionary)
        assert expanded(stored, dictionary) == one
        assert len(stored) <= len(one) or one[:1] == MARK


def test_a_short_turn_takes_half_of_its_bytes() -> None:
    assert len(compressed(TURN, BODIES)) < len(TURN) / 2


def test_what_another_zlib_compressed_in_another_way_expands_too() -> None:
    for level, window in ((0, -15), (1, -15), (9, -9)):
        deflate = zlib.compressobj(level, zlib.DEFLATED, window, 9, zlib.Z_FIXED, BODIES)
        assert expanded(MARK + deflate.compress(TURN) + deflate.flush(), BODIES) == TURN


def test_bytes_that_are_cut_or_lengthened_are_refused() -> None:
    stored = compressed(TURN, BODIES)
    for damaged in (stored[:-1], MARK, stored + b"x", MARK + b"\xff" * 9):
        with pytest.raises(NotExpanded):
            expanded(damaged, BODIES)


def test_the_dictionaries_are_those_that_stored_bytes_need() -> None:
    digests = {name: sha256(one).hexdigest()[:16] for name, one in (("bodies", BODIES), ("values", VALUES))}
    assert digests == {"bodies": "82bd38fdf8582ac2", "values": "97f5a5f3e5ee539e"}
