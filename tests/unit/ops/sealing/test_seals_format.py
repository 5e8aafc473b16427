"""The file of a store's seals: what is laid is read, and what was changed, cut or put together otherwise is told."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import pytest

from engramlog_server.ops.sealing.seals_format import (
    MARK,
    CommonSeals,
    DamagedSeals,
    PartitionSeals,
    SavedReach,
    SealsHeader,
    new_header,
    read_common,
    read_header,
    read_partitions,
    write_seals,
)
from tests.rows import each_row

KEY = bytes(range(32))
COMMON = CommonSeals(check=b"check", listed=[b'{"erasure":"1"}', b"{}"])
AT = "2026-11-27T12:00:00Z"


def partition(number: int, head: int) -> PartitionSeals:
    return PartitionSeals(
        tag=f"e{number}",
        head=head,
        folded=head,
        chain=bytes([number]) * 32,
        lines={"团队".encode(): b"\1" * 60, b"ada": b"\0erased\0x"},
        readmitted={b"ada": b"3 x"},
        wordless={2: b"left"},
        gone=[b"g" * 16],
        salts=bytes([number]) * 16 * (head + 1),
    )


def laid(heads: Sequence[int] = (3, 0, 5)) -> bytes:
    file = BytesIO()
    header = new_header("5a" * 8, "store", AT, SavedReach(tuple(heads), ("aa" * 16, "", "bb" * 16)), b"line")
    write_seals(file, header, KEY, (partition(at, head) for at, head in enumerate(heads)), iter([COMMON]))
    return file.getvalue()


def read(raw: bytes, key: bytes = KEY) -> tuple[SealsHeader, list[PartitionSeals], CommonSeals]:
    file = BytesIO(raw)
    header, told = read_header(file)
    return header, list(read_partitions(file, header, told, key)), read_common(file, header, told, key)


def test_what_was_written_is_read() -> None:
    header, partitions, common = read(laid())
    assert (header.store_id, header.saved_at, header.heads) == ("store", AT, (3, 0, 5))
    assert (header.events, header.wrapped) == (("aa" * 16, "", "bb" * 16), b"line")
    assert partitions == [partition(0, 3), partition(1, 0), partition(2, 5)]
    assert common == COMMON


def test_the_header_is_read_without_the_key_and_nothing_else_is() -> None:
    assert read_header(BytesIO(laid()))[0].save == "5a" * 8
    with pytest.raises(DamagedSeals, match="part 1 is not what was written"):
        read(laid(), bytes(32))
    assert b"ada" not in laid()
    assert "团队".encode() not in laid()


def test_each_byte_that_is_changed_is_told() -> None:
    raw = laid((1, 0, 0))
    for at in range(len(raw)):
        changed = bytearray(raw)
        changed[at] ^= 1
        with pytest.raises(DamagedSeals):
            read(bytes(changed))


def test_a_file_that_breaks_off_anywhere_is_told() -> None:
    raw = laid((1, 0, 0))
    for end in range(len(raw)):
        with pytest.raises(DamagedSeals):
            read(raw[:end])


def test_something_behind_its_end_is_told() -> None:
    with pytest.raises(DamagedSeals, match="something follows"):
        read(laid() + b"x")


def test_blocks_of_another_save_and_in_another_order_are_told() -> None:
    raw = laid((1, 1, 1))
    _, told = read_header(BytesIO(raw))
    start = len(MARK) + 4 + len(told)
    size = 8 + int.from_bytes(raw[start : start + 8], "big")
    first, second = raw[start : start + size], raw[start + size : start + 2 * size]
    with pytest.raises(DamagedSeals, match="part 1"):
        read(raw[:start] + second + first + raw[start + 2 * size :])


@each_row("raw", [b"", b"x", b"ENGPROB1 something else", MARK, MARK + b"\xff" * 4, MARK + b"\0\0\0\2{}"])
def test_what_is_no_file_of_seals_is_told(raw: bytes) -> None:
    with pytest.raises(DamagedSeals):
        read_header(BytesIO(raw))


@each_row(
    ("heads", "events", "wrong"),
    [
        ((), (), "tells no partitions"),
        ((1,), (), "tells no partitions"),
        ((0,) * 1_025, ("",) * 1_025, "tells no partitions"),
        ((-1,), ("",), "cannot be read"),
        ((1 << 63,), ("",), "cannot be read"),
        ((1,), ("[red]",), "cannot be read"),
    ],
)
def test_a_header_that_tells_no_places_is_told(heads: tuple[int, ...], events: tuple[str, ...], wrong: str) -> None:
    with pytest.raises(DamagedSeals, match=wrong):
        read_header(headed(SavedReach(heads, events)))


@each_row(
    ("save", "store", "at"),
    [
        ("5a", "store", AT),
        ("5a" * 8, "store\x1b[2J", AT),
        ("5a" * 8, "store", "now"),
        ("5a" * 8, "store", "2026-11-27T12:00:00"),
        ("5a" * 8, "store", AT + "[/]\n"),
    ],
)
def test_a_header_is_shown_to_people_so_it_says_only_what_a_save_says(save: str, store: str, at: str) -> None:
    with pytest.raises(DamagedSeals, match="its header"):
        read_header(headed(SavedReach((0,), ("",)), save, store, at))


def headed(reach: SavedReach, save: str = "5a" * 8, store: str = "store", at: str = AT) -> BytesIO:
    """A file of a header alone."""
    file = BytesIO()
    write_seals(file, new_header(save, store, at, reach, b"line"), KEY, (), ())
    file.seek(0)
    return file
