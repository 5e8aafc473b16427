"""Blocks that are sealed while they are written and opened where they lie."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.sealing.blocks import HEAD_BYTES, PIECE, SealedBlock, open_block
from engramlog_server.events.sealing.cipher import NotOpened
from tests.rows import each_row

MARK, KEY, ABOUT = b"A BLOCK.", bytes(range(32)), b"store\0ada"


def written(*pieces: bytes, key: bytes = KEY, about: bytes = ABOUT) -> bytearray:
    file, block = BytesIO(), SealedBlock(MARK, key, about, pieces)
    block.write(file)
    raw = file.getvalue()
    assert len(raw) == block.size == HEAD_BYTES + sum(map(len, pieces))
    return bytearray(raw)


@given(st.lists(st.binary(max_size=64), max_size=6))
def test_what_was_sealed_in_pieces_is_opened_in_one(pieces: list[bytes]) -> None:
    assert bytes(open_block(MARK, KEY, ABOUT, written(*pieces))) == b"".join(pieces)


def test_a_block_larger_than_what_is_opened_at_once_comes_whole_and_tells_nothing_before() -> None:
    words = b"the words " * (PIECE // 4)
    block = written(words[:PIECE], words[PIECE:])
    assert b"the words" not in block
    assert open_block(MARK, KEY, ABOUT, block) == words


@each_row("at", [0, 8, 20, HEAD_BYTES, -1])
def test_one_byte_that_was_changed_opens_nothing(at: int) -> None:
    block = written(b"some words", b"and more")
    block[at] ^= 1
    with pytest.raises(NotOpened):
        open_block(MARK, KEY, ABOUT, block)


def test_another_key_another_place_and_a_block_that_was_cut_open_nothing() -> None:
    for block in (
        written(b"words", key=bytes(32)),
        written(b"words", about=b"store\0bob"),
        written(b"words")[:-1],
        written(b"words")[: HEAD_BYTES - 1],
        bytearray(b"words that lie open"),
    ):
        with pytest.raises(NotOpened):
            open_block(MARK, KEY, ABOUT, block)


def test_the_same_block_is_never_written_twice_alike() -> None:
    assert written(b"words") != written(b"words")
