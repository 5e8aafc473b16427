"""Bodies and values open under what they were sealed under, at their place, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.sealing.cipher import BODY_MARK, NotOpened, ValueCipher, body_about, open_body, seal_body
from engramlog_server.events.sealing.compression import BODIES, compressed
from tests.rows import each_row

SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))
KEY_SALT, SALT = b"k" * 16, b"s" * 16
BODY = '{"content":"早上喝咖啡"}'.encode()
TOLD: dict[str, Any] = {
    "store": b"store", "raw_id": b"i" * 16, "owner": "mei", "kind": "MemoryCreated.1", "principal": b"local",
    "level": b"1:3:inferred", "digests": b"digests of statements", "committed": b"c" * 32,
}  # fmt: skip


def test_a_body_opens_with_its_salt_and_holds_none_of_its_words() -> None:
    sealed = seal_body(SECRET, KEY_SALT, body_about(**TOLD), SALT, BODY, BODIES)
    assert open_body(SECRET, KEY_SALT, body_about(**TOLD), sealed, BODIES) == (SALT, BODY)
    assert (sealed[:1], len(sealed)) == (BODY_MARK, len(compressed(BODY, BODIES)) + 33)
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
    sealed = seal_body(SECRET, KEY_SALT, body_about(**TOLD), SALT, BODY, BODIES)
    with pytest.raises(NotOpened):
        open_body(SECRET, KEY_SALT, body_about(**TOLD | {field: other}), sealed, BODIES)


def test_what_a_body_is_bound_to_does_not_run_into_what_stands_beside_it() -> None:
    one = body_about(**TOLD | {"owner": "ab", "kind": "c"})
    assert one != body_about(**TOLD | {"owner": "a", "kind": "bc"})
    one = body_about(**TOLD | {"level": b"1:3", "digests": b"0"})
    assert one != body_about(**TOLD | {"level": b"1:", "digests": b"30"})


@each_row(("secret", "key_salt"), [(OTHER, KEY_SALT), (SECRET, b"l" * 16), (SECRET, bytes(16))])
def test_without_its_secret_or_its_salt_a_body_does_not_open(secret: bytes, key_salt: bytes) -> None:
    sealed = seal_body(SECRET, KEY_SALT, body_about(**TOLD), SALT, BODY, BODIES)
    with pytest.raises(NotOpened):
        open_body(secret, key_salt, body_about(**TOLD), sealed, BODIES)


@given(at=st.integers(0, len(compressed(BODY, BODIES)) + 31), bit=st.integers(0, 7))
def test_a_body_of_which_one_bit_was_changed_does_not_open(at: int, bit: int) -> None:
    sealed = bytearray(seal_body(SECRET, KEY_SALT, body_about(**TOLD), SALT, BODY, BODIES))
    sealed[at + 1] ^= 1 << bit
    with pytest.raises(NotOpened):
        open_body(SECRET, KEY_SALT, body_about(**TOLD), bytes(sealed), BODIES)


@each_row("cut", [b"", BODY_MARK, BODY_MARK + b"x", BODY_MARK + bytes(16)])
def test_what_is_too_short_to_be_a_body_does_not_open(cut: bytes) -> None:
    with pytest.raises(NotOpened):
        open_body(SECRET, KEY_SALT, body_about(**TOLD), cut, BODIES)


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
