"""Probes on disk: sealed, of this user alone, written whole, and told apart where they cannot be read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
import pytest

from events.errors import BadSetting, KeyUnavailable, NotFound, StoreMismatch, StoreUnavailable
from events.sealing.key_ring import KeyRing
from events.sealing.seals import Wrapped
from ops.erasing.probe_file import (
    DAY_SECONDS,
    DamagedProbes,
    drop_older,
    drop_probes,
    kept_probes,
    kept_since,
    probes_folder,
    probes_wrapped,
    read_probes,
    rewrap_probes,
    write_probes,
)
from ops.erasing.probes import Probes
from ops.settings import Settings

STORE, ID = "5f0c7d0e-8f0c-4f47-8b7f-3a1e5c1d2a90", "0d4c0f6a-1111-4e4e-8e8e-000000000001"
MASTER = KeyRing([bytes(32)])
WORD = "沿着河边走到了旧磨坊"


def probes(erasure_id: str = ID) -> Probes:
    return Probes(
        erasure_id=erasure_id,
        store_id=STORE,
        owner="ada",
        tag="e0",
        made_at=1,
        events=2,
        texts=3,
        shared=0,
        unopened=0,
        secret=b"\5" * 32,
        line=b"\6" * 70,
        salts=[b"\7" * 16],
        derived=[b"\x08" * 16],
        words=[WORD],
    )


def names(folder: Path) -> list[str]:
    """What lies in it."""
    return sorted(one.name for one in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "erasures"


def test_what_was_written_is_read_and_nobody_else_can(folder: Path) -> None:
    path = write_probes(folder, MASTER, probes())
    assert read_probes(folder, MASTER, STORE, ID) == probes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert names(folder) == [path.name]
    assert kept_probes(folder) == [ID]
    raw = path.read_bytes()
    for told in (WORD.encode(), b"\5" * 16, b"\6" * 16, b"\7" * 16, b"ada"):
        assert told not in raw


def test_no_two_files_are_sealed_under_one_key(folder: Path) -> None:
    first = write_probes(folder, MASTER, probes()).read_bytes()
    assert write_probes(folder, MASTER, probes()).read_bytes()[8 + 4 + 21 :] != first[8 + 4 + 21 :]
    assert read_probes(folder, MASTER, STORE, ID) == probes()


def test_probes_tell_nothing_where_they_are_shown() -> None:
    told = repr(probes()) + str(probes()) + str(probes().__rich_repr__())
    assert WORD not in told
    assert "x05" not in told


def test_probes_that_are_not_there_are_told_so(folder: Path) -> None:
    with pytest.raises(NotFound, match=ID):
        read_probes(folder, MASTER, STORE, ID)
    assert kept_probes(folder) == []


def test_another_master_key_and_another_store_are_told_apart_from_damage(folder: Path) -> None:
    write_probes(folder, MASTER, probes())
    with pytest.raises(StoreMismatch, match="another master key"):
        read_probes(folder, KeyRing([b"\1" * 32]), STORE, ID)
    with pytest.raises(StoreMismatch, match="another store"):
        read_probes(folder, MASTER, "another", ID)


def test_probes_of_another_erasure_under_this_name_do_not_open(folder: Path) -> None:
    path = write_probes(folder, MASTER, probes())
    path.rename(path.with_name("another.probes"))
    with pytest.raises(StoreMismatch):
        read_probes(folder, MASTER, STORE, "another")


class Away(KeyRing):
    def unwrap(self, lines: object) -> list[bytes | KeyUnavailable]:
        return [KeyUnavailable("the key service does not answer")]


def test_a_key_that_cannot_be_had_now_is_no_damage(folder: Path) -> None:
    write_probes(folder, MASTER, probes())
    with pytest.raises(KeyUnavailable, match="does not answer"):
        read_probes(folder, Away([bytes(32)]), STORE, ID)


@pytest.mark.parametrize("at", [0, -1, -40])
def test_a_byte_that_was_changed_is_damage(folder: Path, at: int) -> None:
    path = write_probes(folder, MASTER, probes())
    raw = bytearray(path.read_bytes())
    raw[at] ^= 1
    path.write_bytes(raw)
    with pytest.raises(DamagedProbes, match="damaged"):
        read_probes(folder, MASTER, STORE, ID)


@pytest.mark.parametrize("left", [0, 5, 12, 30, 82, 200])
def test_a_file_that_breaks_off_is_damage(folder: Path, left: int) -> None:
    path = write_probes(folder, MASTER, probes())
    os.truncate(path, left)
    with pytest.raises((DamagedProbes, StoreMismatch), match="damaged"):
        read_probes(folder, MASTER, STORE, ID)


def test_sealed_bytes_that_are_no_probes_are_damage(folder: Path) -> None:
    path = write_probes(folder, MASTER, probes())
    raw = path.read_bytes()
    size = int.from_bytes(raw[8:12], "big")
    about = STORE.encode() + b"\0: probes of " + ID.encode()
    (key,) = MASTER.unwrap([Wrapped(about, raw[12 : 12 + size])])
    assert isinstance(key, bytes)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    path.write_bytes(
        raw[: 12 + size] + bytes(12) + AESGCM(key).encrypt(bytes(12), msgspec.msgpack.encode({"a": 1}), about)
    )
    with pytest.raises(DamagedProbes):
        read_probes(folder, MASTER, STORE, ID)


TWO, OTHER = KeyRing([bytes(32), b"\1" * 32]), "0d4c0f6a-1111-4e4e-8e8e-000000000002"


def test_probes_are_wrapped_anew_and_are_no_younger_for_it(folder: Path) -> None:
    path = write_probes(folder, MASTER, probes())
    os.utime(path, (1_000_000, 1_000_000))
    write_probes(folder, TWO, probes(OTHER))
    assert probes_wrapped(folder, TWO) == {MASTER.name: 1, TWO.name: 1}
    assert kept_since(folder)[ID] == 1_000_000
    assert rewrap_probes(folder, TWO, STORE) == 1
    assert probes_wrapped(folder, TWO) == {TWO.name: 2}
    assert kept_since(folder)[ID] == 1_000_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_probes(folder, KeyRing([b"\1" * 32]), STORE, ID) == probes()
    assert rewrap_probes(folder, TWO, STORE) == 0
    assert drop_older(folder, 1, 1_000_000 + DAY_SECONDS) == [ID]


def test_what_cannot_be_wrapped_anew_stays_and_a_key_that_is_away_is_told(folder: Path) -> None:
    path = write_probes(folder, KeyRing([b"\3" * 32]), probes())
    write_probes(folder, MASTER, probes(OTHER)).write_bytes(b"ENGPROB1")
    before = path.read_bytes()
    assert rewrap_probes(folder, TWO, STORE) == 0
    assert path.read_bytes() == before
    assert probes_wrapped(folder, TWO) == {KeyRing([b"\3" * 32]).name: 1}
    with pytest.raises(KeyUnavailable, match="does not answer"):
        rewrap_probes(folder, Away([b"\1" * 32]), STORE)


def test_a_file_or_folder_that_others_can_use_is_refused(folder: Path, tmp_path: Path) -> None:
    path = write_probes(folder, MASTER, probes())
    path.chmod(0o644)
    with pytest.raises(StoreUnavailable, match="others can use"):
        read_probes(folder, MASTER, STORE, ID)
    folder.chmod(0o755)
    with pytest.raises(StoreUnavailable, match="this user alone"):
        write_probes(folder, MASTER, probes())
    link = tmp_path / "linked"
    link.mkdir(mode=0o700)
    (link / path.name).symlink_to(path)
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        read_probes(link, MASTER, STORE, ID)


def test_a_disk_that_refuses_leaves_what_was_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_probes(folder, MASTER, probes())

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreUnavailable, match="No space left"):
            write_probes(folder, MASTER, probes())
    assert names(folder) == [f"{ID}.probes"]
    assert read_probes(folder, MASTER, STORE, ID) == probes()


@pytest.mark.parametrize("told", ["", "../x", "a/b", "-x", "x" * 65, "a.b", "ä"])
def test_an_id_that_is_no_files_name_is_refused_by_name(folder: Path, told: str) -> None:
    for asked in (
        lambda: write_probes(folder, MASTER, probes(told)),
        lambda: read_probes(folder, MASTER, STORE, told),
        lambda: drop_probes(folder, told),
    ):
        with pytest.raises(BadSetting, match=r"erasure_id: got .*allowed"):
            asked()
    assert not folder.exists()


def test_dropping_destroys_them_once(folder: Path) -> None:
    path = write_probes(folder, MASTER, probes())
    with path.open("rb") as held:  # whoever has it open finds nothing in it
        assert drop_probes(folder, ID)
        assert not held.read().strip(b"\0")
    assert names(folder) == []
    assert not drop_probes(folder, ID)


def test_those_that_are_older_are_dropped_and_others_stay(folder: Path) -> None:
    now = 1_000_000_000.0
    for name, days in (("new", 3.0), ("old", 30.0), ("oldest", 31.0)):
        path = write_probes(folder, MASTER, probes(name))
        os.utime(path, (now - days * DAY_SECONDS, now - days * DAY_SECONDS))
    (folder / "notes.txt").write_text("of somebody else")
    assert drop_older(folder, 30, now) == ["old", "oldest"]
    assert names(folder) == ["new.probes", "notes.txt"]
    assert drop_older(folder, 30, now) == []
    assert drop_older(folder / "missing", 30, now) == []


def test_they_lie_where_the_store_keeps_its_files(tmp_path: Path) -> None:
    assert probes_folder(Settings(data=tmp_path, redis_url=None), STORE) == tmp_path / "erasures"
    found = probes_folder(Settings(data=tmp_path, redis_url="redis://localhost"), f"../{STORE}")
    assert found == tmp_path / f"erasures-{STORE}"
