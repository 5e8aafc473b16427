"""Packing of vectors: small, near enough, and refused where it is damaged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.errors import DamagedState
from engramlog_server.projections.embedding.meaning import Embedded, JoinedPieces, Vectors
from engramlog_server.projections.embedding.vectors import (
    VectorKeys,
    is_whole,
    pack,
    unpack_all_pieces,
    unpack_pieces,
    unpack_whole,
)
from tests.rows import each_row


def unit(rows: int, d: int, *, seed: int = 1) -> Vectors:
    """So many vectors of length 1, with the few large components that language models give."""
    vectors = np.random.default_rng(seed).standard_t(3, (rows, d)).astype(np.float32)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def embedded(pieces: int = 5, d: int = 384) -> Embedded:
    return Embedded(unit(1, d)[0], unit(pieces, d, seed=2))


@each_row("d", [32, 384, 1_536])
def test_what_is_unpacked_points_where_it_pointed(d: int) -> None:
    one = embedded(200, d)
    whole, pieces = pack(one)
    assert 1 - float(unpack_whole(whole) @ one.whole) < 0.01
    back = unpack_pieces(pieces)
    np.testing.assert_allclose(np.linalg.norm(back, axis=1), 1, atol=1e-5)
    assert (1 - (back * one.pieces).sum(axis=1)).max() < 0.01
    assert unpack_whole(whole).dtype == back.dtype == np.float32


def test_one_huge_component_costs_no_more_than_is_stated() -> None:
    rest = np.full((1, 384), 0.5 / 127, np.float32)  # what rounding treats worst
    rest[0, 0] = 1
    piece = (rest / np.linalg.norm(rest)).astype(np.float32)
    whole, pieces = pack(Embedded(piece[0], piece))
    for back, largest in ((unpack_whole(whole), 63), (unpack_pieces(pieces)[0], 127)):
        assert 0 < 1 - float(back @ piece[0]) <= 384 / 8 / largest**2 + 1e-6


def test_no_pieces_are_no_bytes() -> None:
    assert pack(Embedded(unit(1, 8)[0], np.zeros((0, 8), np.float32)))[1] == b""
    assert unpack_pieces(b"").shape == (0, 0)


@each_row(
    "damage",
    [
        lambda raw: b"",
        lambda raw: raw[:2],
        lambda raw: raw[:-1],
        lambda raw: raw + b"x",
        lambda raw: b"\x09" + raw[1:],
        lambda raw: raw[:1] + b"\x00\x00" + raw[3:],
        lambda raw: raw[:1] + b"\x7f\x01" + raw[3:],
    ],
    ids=["nothing", "half a header", "too short", "too long", "another version", "no dimensions", "other dimensions"],
)
def test_damaged_bytes_are_refused(damage: object) -> None:
    whole, pieces = (damage(raw) for raw in pack(embedded(3)))  # type: ignore[operator]
    with pytest.raises(DamagedState, match="are not a whole vector"):
        unpack_whole(whole)
    if pieces:
        with pytest.raises(DamagedState, match="are not pieces"):
            unpack_pieces(pieces)


def test_whole_vectors_of_other_versions_are_missing() -> None:
    assert not is_whole(b"\x01\x08\x00" + unit(1, 8)[0].astype("<f2").tobytes())
    assert not is_whole(b"\x02\x08\x00" + bytes(8))


@each_row("d", [1, 7, 8, 9, 512])
def test_a_whole_vector_takes_seven_bits_a_component(d: int) -> None:
    whole = np.zeros(d, np.float32)
    whole[d // 2] = -1
    packed, _ = pack(Embedded(whole, np.zeros((0, d), np.float32)))
    assert (packed[:3], len(packed)) == (b"\x03" + d.to_bytes(2, "little"), 3 + (7 * d + 7) // 8)
    assert unpack_whole(packed).tolist() == whole.tolist()


@each_row(
    ("whole", "pieces"),
    [
        (np.array([1, np.nan]), np.zeros((0, 2))), (np.array([1, 0]), np.array([[np.inf, 0]])),
        (np.array([1, 0]), np.zeros((3, 4))), (np.zeros((2, 2)), np.zeros((0, 2))), (np.zeros(0), np.zeros((0, 0))),
    ],
    ids=["not finite", "a piece not finite", "pieces of other dimensions", "two vectors", "none"],
)  # fmt: skip
def test_what_are_no_vectors_of_a_text_is_not_packed(whole: Vectors, pieces: Vectors) -> None:
    with pytest.raises(ValueError, match="vector"):
        pack(Embedded(whole, pieces))


def test_no_name_of_a_model_leads_into_the_vectors_of_another_owner() -> None:
    keys = VectorKeys("e0")
    assert keys.wholes("a:b", "c") != keys.wholes("a", "b:c")
    assert keys.wholes("openai:x/1", "林") == "{e0}:vec:openai%3Ax%2F1:林"


DAMAGED = (b"", b"\x02", b"\x01\x08\x00" + bytes(8), b"\x02\x00\x00", b"\x02\x08\x00" + bytes(7))


@given(st.lists(st.tuples(st.sampled_from([8, 16]), st.integers(1, 9)) | st.sampled_from(DAMAGED), max_size=12))
def test_many_are_unpacked_to_the_bit_as_each_by_itself_and_what_is_damaged_has_none(
    told: list[tuple[int, int] | bytes],
) -> None:
    raws = [
        one if isinstance(one, bytes) else pack(Embedded(unit(1, one[0])[0], unit(one[1], one[0], seed=at)))[1]
        for at, one in enumerate(told)
    ]
    nothing = np.zeros((0, 8), np.float32)
    alone = [nothing if raw in DAMAGED else unpack_pieces(raw) for raw in raws]
    found, wanted = unpack_all_pieces(raws, 8), JoinedPieces.of(alone, 8)
    assert found.counts.tolist() == [len(one) if one.shape[1] == 8 else 0 for one in alone]
    assert (found.vectors.shape, found.vectors.tobytes()) == (wanted.vectors.shape, wanted.vectors.tobytes())
    assert wanted.counts.tolist() == found.counts.tolist()
