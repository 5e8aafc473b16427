"""The field that tells what an event states: keyed, bounded, and read back as it was written."""

from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.envelope import MOST_STATEMENTS, NOTHING_STATED, Stated, digest, read, written
from tests.rows import each_row

SECRET = bytes(range(32))
DIGESTS = st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=MOST_STATEMENTS).map(tuple)


def test_a_digest_is_known_under_its_owners_secret_alone() -> None:
    assert digest(SECRET, b"ttea") == digest(SECRET, b"ttea")
    assert len({digest(SECRET, b"ttea"), digest(SECRET, b"tcoffee"), digest(bytes(32), b"ttea")}) == 3


def test_a_digest_is_no_hash_that_the_same_secret_makes_for_another_end() -> None:
    assert digest(SECRET, b"ttea") != blake2b(b"ttea", digest_size=16, key=SECRET).digest()


def test_the_digest_of_release_1_stays_what_it_was() -> None:
    assert digest(SECRET, b"tiliveintokyo").hex() == "04871e12f64870ada36c6ae9a14c9d3a"


@given(st.integers(1, 255), DIGESTS)
def test_what_was_written_is_read_back(version: int, digests: tuple[bytes, ...]) -> None:
    field = written(version, digests)
    assert len(field) == 1 + 16 * len(digests)
    assert read(field) == Stated(version, digests)


def test_an_event_that_states_nothing_has_an_empty_field() -> None:
    assert written(1, ()) == b""
    assert read(b"") == NOTHING_STATED


@given(st.binary(max_size=80))
def test_any_bytes_are_read_as_they_were_written_or_refused(field: bytes) -> None:
    try:
        told = read(field)
    except ValueError:
        return
    assert written(*told) == field


@each_row(
    ("version", "digests", "told"),
    [
        (0, (bytes(16),), "version 0 of the statement rules: 1 to 255"),
        (256, (bytes(16),), "version 256 of the statement rules: 1 to 255"),
        (1, (bytes(15),), "a statement's digest of 15 bytes: 16"),
        (1, (bytes(16),) * (MOST_STATEMENTS + 1), "33 statements of one event: at most 32"),
    ],
)
def test_what_cannot_be_written_is_refused_with_what_is_allowed(
    version: int, digests: tuple[bytes, ...], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        written(version, digests)


@each_row("field", [b"\x01", bytes(17), b"\x01" + bytes(15), b"\x01" + bytes(16 * 33)])
def test_what_nobody_wrote_is_refused(field: bytes) -> None:
    with pytest.raises(ValueError, match="statement digests"):
        read(field)


@each_row("secret", [b"", b"short", bytes(65)])
def test_a_secret_that_is_none_is_refused(secret: bytes) -> None:
    with pytest.raises(ValueError, match="16 to 64 are allowed"):
        digest(secret, b"ttea")
