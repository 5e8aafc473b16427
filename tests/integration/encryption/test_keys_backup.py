"""The backup of the keys: what it needs, what it refuses to replace, and what an erasure says of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.helpers.cli import Cli
from tests.integration.encryption.machine import EVENTS, Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Machine:
    return Machine(Cli(monkeypatch, capsys), tmp_path, monkeypatch, capsys)


def forget_list(machine: Machine) -> None:
    """The list of what was erased is lost with the machine."""
    (machine.data / "erasures.jsonl").unlink(missing_ok=True)


def test_keys_save_says_what_it_needs(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    told = machine.cli.json("backup", "keys")
    assert (told["events"], told["owners"], told["replaced"]) == (EVENTS, 3, None)
    assert machine.cli.json("backup", "keys")["replaced"] == told["saved_at"]
    assert machine.keys.stat().st_mode & 0o777 == 0o600
    assert "in the data folder" in machine.cli("backup", "keys", str(machine.data / "keys"), code=2).err
    assert "a folder that is there" in machine.cli("backup", "keys", str(machine.folder / "no" / "keys"), code=2).err
    monkeypatch.delenv("ENGRAMLOG_KEYS_BACKUP")
    assert "ENGRAMLOG_KEYS_BACKUP" in machine.cli("backup", "keys", code=2).err
    machine.keys.chmod(0o604)
    assert "could be read by others" in machine.cli("backup", "keys", str(machine.keys), code=2).err
    machine.keys.chmod(0o600)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(machine.folder / "another"))
    machine.say(range(1))
    assert "holds the keys of store" in machine.cli("backup", "keys", str(machine.keys), code=1).err
    monkeypatch.setenv("ENGRAMLOG_DATA", str(machine.folder / "open"))
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", "none")
    machine.say(range(1))
    assert "is not encrypted" in machine.cli("backup", "keys", str(machine.folder / "more"), code=1).err


def test_an_older_copy_does_not_replace_newer_keys_nor_does_one_that_went_on(machine: Machine) -> None:
    copy = machine.copy()
    machine.erase("ada")
    newest = machine.keys.read_bytes()
    machine.lose(copy)
    forget_list(machine)
    (machine.data / "receipts.json").unlink(missing_ok=True)
    assert "this store is an older copy" in machine.cli("backup", "keys", code=1).err
    machine.say(range(100, 130), "ada")
    machine.say(range(130, 160), "团队")
    machine.cli("master-key")
    assert "or went on from one" in machine.cli("backup", "keys", code=1).err
    assert machine.keys.read_bytes() == newest


def test_an_erasure_states_how_old_the_keys_are(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (done,) = machine.erase("ada")
    assert done["ended_at"] <= done["keys_saved_at"]
    assert not [one for one in done["not_proven"] if "backup of the keys" in one]
    machine.keys.rename(machine.folder / "elsewhere")
    machine.keys.symlink_to(machine.folder / "elsewhere")
    (words,) = machine.erase("lin-yue", "m4")
    assert words["keys_saved_at"] is None
    assert [one for one in words["not_proven"] if "was not written again" in one and "is a link" in one]
    monkeypatch.delenv("ENGRAMLOG_KEYS_BACKUP")
    (last,) = machine.erase("lin-yue", "m7")
    assert last["keys_saved_at"] is None
    assert not [one for one in last["not_proven"] if "backup of the keys" in one]


def test_keys_that_could_not_be_replaced_tell_how_old_they_are(machine: Machine) -> None:
    saved = machine.cli.json("backup", "keys")["saved_at"]
    with closing(sqlite3.connect(machine.keys)) as database, database:
        database.execute("UPDATE about SET value = replace(value, '\"heads\":[', '\"heads\":[9')")
    (done,) = machine.erase("ada")
    assert done["keys_saved_at"] == saved
    assert [one for one in done["not_proven"] if "was not written again" in one]
