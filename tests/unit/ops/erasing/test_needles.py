"""Many needles are found at once, however a stream is cut into chunks, and where they are packed."""

from __future__ import annotations

import json
import pickle
import zlib
from base64 import b64encode, urlsafe_b64encode
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.erasing.needles import CARRY_BYTES, STEP_BYTES, Kind, Needles, forms_of_key
from ops.erasing.pieces import forms_of_piece

NEEDLES: list[tuple[Kind, bytes]] = [
    ("word", b"abab"),
    ("word", b"ba"),
    ("secret", b"abc" * 4),
    ("salt", b"\0\1\2"),
]


def counted(raw: bytes) -> Counter[Kind]:
    """How often each stands in some bytes, by looking at every place."""
    return Counter(kind for at in range(len(raw)) for kind, one in NEEDLES if raw.startswith(one, at))


@given(st.lists(st.text("abc\0\1\2", max_size=12).map(str.encode), max_size=30))
def test_needles_are_found_across_whatever_borders_chunks_have(chunks: list[bytes]) -> None:
    assert Needles(NEEDLES).in_stream(chunks) == counted(b"".join(chunks))


@given(st.integers(-20, 20), st.integers(1_000, 400_000), st.integers(0, 6))
def test_needles_are_found_around_what_is_kept_of_a_long_stream(shift: int, size: int, times: int) -> None:
    raw = b"-" * max(CARRY_BYTES * times + shift, 0) + b"abcabcabcabc" + b"-" * (CARRY_BYTES + 100)
    found = Needles(NEEDLES).in_stream([raw[at : at + size] for at in range(0, len(raw), size)])
    assert found == {"secret": 1}


@given(st.text("abc\0\1\2", max_size=60).map(str.encode))
def test_which_of_them_stand_somewhere_is_told_by_their_numbers(raw: bytes) -> None:
    assert Needles(NEEDLES).which(raw) == {number for number, (_, one) in enumerate(NEEDLES) if one in raw}


@given(st.integers(-20, 20), st.integers(STEP_BYTES - 20, STEP_BYTES + 20))
def test_needles_are_found_where_one_step_follows_another(shift: int, size: int) -> None:
    raw = b"-" * (STEP_BYTES + shift) + b"abcabcabcabc" + b"-" * STEP_BYTES
    found = Needles(NEEDLES).in_stream([raw[at : at + size] for at in range(0, len(raw), size)])
    assert found == {"secret": 1}


@given(st.integers(0, 600_000), st.integers(1_000, 300_000))
def test_what_zlib_packed_is_found_wherever_it_begins_in_a_stream(before: int, size: int) -> None:
    raw = b"-" * before + zlib.compress(b"-" * 500 + b"abcabcabcabc") + b"-" * 300
    found = Needles(NEEDLES).in_stream([raw[at : at + size] for at in range(0, len(raw), size)])
    assert found == {"secret": 1}


def test_a_value_is_unpacked_as_often_as_rq_packs_one() -> None:
    inner = pickle.dumps({"told": "abcabcabcabc"})
    for packed in (
        zlib.compress(inner),
        b64encode(inner),
        b64encode(zlib.compress(inner)),
        urlsafe_b64encode(inner).rstrip(b"="),
    ):
        assert Needles(NEEDLES).in_value(packed)["secret"] == 1


def test_what_looks_packed_and_is_not_is_looked_at_as_it_lies() -> None:
    needles = Needles(NEEDLES)
    assert needles.in_value(b"\x78\x9cabcabcabcabc") == {"secret": 1}
    assert needles.in_value(b"abcabcabcabcabcab" * 3)["secret"] > 0
    assert needles.in_value(b"") == needles.in_stream([]) == Counter()
    assert Needles([]).in_value(b"anything") == Counter()


@given(st.binary(min_size=16, max_size=80), st.binary(max_size=7), st.binary(max_size=7))
def test_a_key_is_found_in_every_form_and_at_every_place(key: bytes, before: bytes, behind: bytes) -> None:
    needles = Needles([("secret", form) for form in forms_of_key(key)])
    whole = before + key + behind
    for form in (whole, whole.hex().encode(), whole.hex().upper().encode(), b64encode(whole), urlsafe_b64encode(whole)):
        assert needles.in_stream([form])["secret"] >= 1


@pytest.mark.parametrize("piece", ["a walk along the river", "沿着河边走到了旧磨坊", "🦜 sings: ünlü kuş"])
def test_a_piece_is_found_as_it_stands_and_in_json_that_is_all_ascii(piece: str) -> None:
    needles = Needles([("word", form) for form in forms_of_piece(piece)])
    assert needles.in_stream([json.dumps({"text": f"and so {piece}."}).encode()]) == {"word": 1}
    assert needles.in_stream([json.dumps({"text": f"and so {piece}."}, ensure_ascii=False).encode()]) == {"word": 1}


def test_needles_are_not_told_by_what_holds_them() -> None:
    assert repr(Needles(NEEDLES)) == f"Needles({len(NEEDLES)})"
