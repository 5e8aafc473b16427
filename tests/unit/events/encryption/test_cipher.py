"""Bodies and values open under what they were sealed under, at their place, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.cipher import (
    BODIES,
    BODY_MARK,
    NotOpened,
    ValueCipher,
    body_about,
    open_body,
    salts_id,
    seal_body,
)
from tests.rows import each_row

SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))
KEYS, SALT = b"k" * 16 + b"w" * 16, b"s" * 16
BODY, SKELETON = '{"content":"早上喝咖啡"}'.encode(), b'{"content":""}'
PARTS = BODY, SKELETON
TOLD: dict[str, Any] = {
    "store": b"store", "raw_id": b"i" * 16, "owner": "mei", "kind": "MemoryCreated.1", "principal": b"local",
    "level": b"1:3:inferred", "digests": b"digests of statements", "committed": b"c" * 32,
}  # fmt: skip


def test_a_body_opens_with_its_salt_and_holds_none_of_its_words() -> None:
    sealed = seal_body(SECRET, (7, KEYS), body_about(**TOLD), SALT, PARTS, BODIES)
    assert open_body(SECRET, KEYS, body_about(**TOLD), sealed, BODIES) == (SALT, BODY)
    assert (sealed[:1], salts_id(sealed)) == (BODY_MARK, 7)
    assert "早上".encode() not in sealed
    assert b"content" not in sealed


@each_row(
    ("field", "other"),
    [
        ("store", b"other"), ("raw_id", b"j" * 16), ("owner", "lin"), ("kind", "MemoryCreated.2"), ("principal", b"eve"),
        ("level", b"1:0:inferred"), ("level", b"1:3"), ("digests", b""), ("committed", b"d" * 32),
    ],
)  # fmt: skip
def test_a_body_is_bound_to_all_that_the_door_knew(field: str, other: Any) -> None:
    sealed = seal_body(SECRET, (7, KEYS), body_about(**TOLD), SALT, PARTS, BODIES)
    with pytest.raises(NotOpened):
        open_body(SECRET, KEYS, body_about(**TOLD | {field: other}), sealed, BODIES)


def test_what_a_body_is_bound_to_does_not_run_into_what_stands_beside_it() -> None:
    one = body_about(**TOLD | {"owner": "ab", "kind": "c"})
    assert one != body_about(**TOLD | {"owner": "a", "kind": "bc"})
    one = body_about(**TOLD | {"level": b"1:3", "digests": b"0"})
    assert one != body_about(**TOLD | {"level": b"1:", "digests": b"30"})


@each_row(
    ("secret", "keys"),
    [(OTHER, KEYS), (SECRET, b"l" + KEYS[1:]), (SECRET, KEYS[:16] + b"v" * 16), (SECRET, KEYS[:16]), (SECRET, b"")],
)
def test_without_its_secret_or_its_salt_a_body_does_not_open(secret: bytes, keys: bytes) -> None:
    sealed = seal_body(SECRET, (7, KEYS), body_about(**TOLD), SALT, PARTS, BODIES)
    with pytest.raises(NotOpened):
        open_body(secret, keys, body_about(**TOLD), sealed, BODIES)


@given(at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_body_of_which_one_bit_was_changed_does_not_open(at: int, bit: int) -> None:
    sealed = bytearray(seal_body(SECRET, (7, KEYS), body_about(**TOLD), SALT, PARTS, BODIES))
    sealed[1 + at % (len(sealed) - 1)] ^= 1 << bit
    with pytest.raises(NotOpened):
        open_body(SECRET, KEYS, body_about(**TOLD), bytes(sealed), BODIES)


@each_row("cut", [b"", BODY_MARK, BODY_MARK + b"x", BODY_MARK + bytes(16)])
def test_what_is_too_short_to_be_a_body_does_not_open(cut: bytes) -> None:
    with pytest.raises(NotOpened):
        open_body(SECRET, KEYS, body_about(**TOLD), cut, BODIES)


def test_without_the_salt_of_its_words_only_the_skeleton_opens_and_the_words_cannot_be_cut_off() -> None:
    about = body_about(**TOLD)
    sealed = seal_body(SECRET, (7, KEYS), about, SALT, PARTS, BODIES)
    assert open_body(SECRET, KEYS[:16], about, sealed, BODIES, has_words=False) == (b"", SKELETON)
    size = int.from_bytes(sealed[9:11], "big")
    with pytest.raises(NotOpened):
        open_body(SECRET, KEYS, about, sealed[: 11 + size], BODIES)
    alone = seal_body(SECRET, (8, KEYS), about, SALT, (SKELETON, SKELETON), BODIES)
    for has_words in (True, False):
        assert open_body(SECRET, KEYS, about, alone, BODIES, has_words=has_words) == (SALT, SKELETON)


@given(place=st.binary(max_size=40), value=st.binary(max_size=400))
def test_a_value_opens_at_its_place_alone_and_is_the_same_bytes_each_time(place: bytes, value: bytes) -> None:
    cipher = ValueCipher(SECRET)
    sealed = cipher.seal(place, value)
    assert ValueCipher(SECRET).seal(place, value) == sealed
    assert cipher.open(place, sealed) == value
    for other, elsewhere in ((ValueCipher(OTHER), place), (cipher, place + b"x")):
        with pytest.raises(NotOpened):
            other.open(elsewhere, sealed)


@given(one=st.binary(max_size=60), two=st.binary(max_size=60), here=st.binary(max_size=8), there=st.binary(max_size=8))
def test_no_two_values_share_a_nonce(one: bytes, two: bytes, here: bytes, there: bytes) -> None:
    cipher = ValueCipher(SECRET)
    same = cipher.seal(here, one)[1:13] == cipher.seal(there, two)[1:13]
    assert same == ((here, one) == (there, two))


def test_a_value_that_lies_open_is_itself() -> None:
    assert ValueCipher(SECRET).open(b"place", b"\x93abc") == b"\x93abc"
