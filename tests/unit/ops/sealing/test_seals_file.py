"""The file of a store's seals on disk: private, replaced whole, never through a link."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

import pytest

from engramlog_server.events.errors import InputError, StoreMismatch, StoreUnavailable
from engramlog_server.events.sealing.key_ring import KeyRing
from engramlog_server.ops.sealing.seals_file import (
    SealsUnusable,
    drop_left,
    in_turn,
    known_seals,
    look_at_seals,
    open_seals,
    refuse_place,
    replace_seals,
)
from engramlog_server.ops.sealing.seals_format import (
    CommonSeals,
    PartitionSeals,
    SavedReach,
    about_key,
    new_header,
    write_seals,
)

MASTER = KeyRing([b"m" * 32])
KEY = b"k" * 32
SAVE = "51" * 8


def whole(file: IO[bytes]) -> None:
    (line,) = MASTER.wrap([(about_key("store", SAVE), KEY)])
    one = PartitionSeals(tag="e", head=0, lines={}, readmitted={}, wordless={}, gone=[], salts=bytes(16))
    header = new_header(SAVE, "store", "2026-11-27T12:00:00Z", SavedReach((0,), ("",)), line)
    write_seals(file, header, KEY, [one], [CommonSeals(check=b"c", listed=[])])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "seals"


def test_it_is_private_and_takes_the_place_of_the_one_before(path: Path) -> None:
    size = replace_seals(path, whole)
    assert (path.stat().st_mode & 0o777, path.stat().st_size) == (0o600, size)
    first = path.stat().st_ino
    replace_seals(path, whole)
    assert path.stat().st_ino != first
    assert sorted(one.name for one in path.parent.iterdir()) == ["seals"]


def test_one_that_cannot_be_written_leaves_the_one_before(path: Path) -> None:
    replace_seals(path, whole)
    before = path.read_bytes()

    def broken(file: IO[bytes]) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(StoreUnavailable, match="No space left"):
        replace_seals(path, broken)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["seals"]


def test_it_opens_under_its_master_key_alone(path: Path) -> None:
    replace_seals(path, whole)
    with open_seals(path, MASTER) as seals:
        assert [one.tag for one in seals.partitions()] == ["e"]
        assert seals.common().check == b"c"
        assert [one.tag for one in seals.partitions()] == ["e"]
    with pytest.raises(StoreMismatch, match="another master key"), open_seals(path, KeyRing([b"x" * 32])):
        pass


def test_what_others_can_read_a_link_and_what_is_missing_are_refused(path: Path) -> None:
    with pytest.raises(SealsUnusable, match="No such file"):
        look_at_seals(path)
    assert known_seals(path) is None
    replace_seals(path, whole)
    assert look_at_seals(path).header.save == SAVE
    path.chmod(0o640)
    with pytest.raises(SealsUnusable, match="could be read by others"):
        look_at_seals(path)
    path.chmod(0o600)
    link = path.with_name("link")
    link.symlink_to(path)
    with pytest.raises(SealsUnusable, match="is a link"):
        known_seals(link)
    path.write_bytes(b"something else")
    with pytest.raises(SealsUnusable, match="holds no seals"):
        known_seals(path)


def test_what_killed_saves_left_goes_and_nothing_else(path: Path) -> None:
    left, other = path.with_name(f".seals.{'a' * 16}"), path.with_name(".seals.lock")
    for one in (left, other, path):
        one.write_bytes(b"")
    drop_left(path)
    assert sorted(one.name for one in path.parent.iterdir()) == [".seals.lock", "seals"]


def test_what_a_killed_save_left_goes_whatever_the_file_is_called(tmp_path: Path) -> None:
    path = tmp_path / "seals[1]*"
    path.with_name(f".{path.name}.{SAVE}").write_bytes(b"seals of before")
    path.with_name(f".seals1x.{SAVE}").write_bytes(b"another file's")
    drop_left(path)
    assert [one.name for one in tmp_path.iterdir()] == [f".seals1x.{SAVE}"]


def test_one_save_waits_for_the_other(path: Path) -> None:
    with in_turn(path):
        descriptor = os.open(path.with_name(".seals.lock"), os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)


def test_a_place_in_the_data_folder_or_nowhere_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "below").mkdir(parents=True)
    nowhere = [tmp_path / "nowhere", tmp_path / ("x" * 300), Path("~nobody-of-that-name")]
    for place in (data / "seals", data / "below" / "seals", *(one / "seals" for one in nowhere)):
        with pytest.raises(InputError, match=r"^seals: got "):
            refuse_place(place, data, "seals")
    assert refuse_place(tmp_path / "seals", data, "seals") == tmp_path / "seals"


def test_a_save_that_does_not_end_keeps_nobody_waiting_for_good(tmp_path: Path) -> None:
    with (
        in_turn(tmp_path / "seals"),
        pytest.raises(StoreUnavailable, match="seals"),
        in_turn(tmp_path / "seals", seconds=0),
    ):
        pass
    with in_turn(tmp_path / "seals", seconds=0):
        pass
