"""Backups by a timer: the newest stay, and none goes that holds what the newest does not, is in use, or is somebody else's."""

from __future__ import annotations

import os
import re
from pathlib import Path
from shutil import copytree, rmtree

import pytest

from engramlog_server.events.errors import InputError, StoreUnavailable
from engramlog_server.ops.backup.folder import held, open_backup
from engramlog_server.ops.backup.make import BackupRotated, rotate_backups
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import open_the_store
from tests.integration.backup.depot import EVENTS, Depot, killed

ROTATE = """
import sys
from pathlib import Path
from engramlog_server.ops.backup.make import rotate_backups
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import open_the_store
from tests.chaos.fate import DIE, fated
with open_the_store(load_settings()) as store:
    name = "2026-02-0%sT03-00-00Z" % sys.argv[4]
    probe = fated(DIE, sys.argv[1], int(sys.argv[3]))
    rotate_backups(store, load_settings(), Path(sys.argv[2]), 1, probe=probe, name=lambda: name)
"""


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


def night(number: int) -> str:
    return f"2026-02-0{number}T03-00-00Z"


def rotated(folder: Path, number: int, keep: int) -> BackupRotated:
    """As a timer has it done in a night of February."""
    with open_the_store(load_settings()) as store:
        settings = load_settings()
        return rotate_backups(store, settings, folder, keep, keys=settings.keys_backup, name=lambda: night(number))


def there(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_the_newest_stay_and_those_go_that_the_newest_holds_whole(depot: Depot, backups: Path) -> None:
    for number in (1, 2, 3, 4):
        done = rotated(backups, number, 2)
        assert done.kept == [night(one) for one in range(number, max(number - 2, 0), -1)]
        assert (done.removed, done.left) == ([night(number - 2)] if number > 2 else [], [])
        assert done.made.events == EVENTS + number - 1
        assert (done.made.keys is not None) is depot.sealed
        depot.say(range(100 + number, 101 + number))
    assert there(backups) == [night(3), night(4)]
    assert depot.cli.json("status")["backed_up"] == done.made.moment
    depot.lose()
    depot.on("restored")
    assert depot.restore(backups / night(4))["events"] == EVENTS + 3


def test_by_the_command_line_it_is_named_by_its_second_and_says_what_went(depot: Depot, backups: Path) -> None:
    rotated(backups, 1, 1)
    told = depot.cli("backup", "make", str(backups), "--keep", "1").out
    assert f"1 backup of this store kept there; removed: {night(1)}" in told
    assert ("its keys lie in" in told) is depot.sealed
    (name,) = there(backups)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ", name)
    assert depot.cli.json("backup", "check", str(backups / name))["events"] == EVENTS
    assert "backed up" in depot.cli("status").out


def test_one_that_holds_more_than_the_newest_stays_night_after_night(lying_open: Depot, backups: Path) -> None:
    """An older copy of the store was put back: what was said since is in the backups alone."""
    copytree(lying_open.data, lying_open.folder / "copy", symlinks=True)
    lying_open.say(range(100, 101), owner="ada")
    rotated(backups, 1, 1)
    rmtree(lying_open.data)
    copytree(lying_open.folder / "copy", lying_open.data, symlinks=True)
    for number in (2, 3):
        done = rotated(backups, number, 1)
        ((name, why),) = [tuple(one.values()) for one in done.left]
        assert (name, done.removed) == (night(1), [] if number == 2 else [night(2)])
        assert re.fullmatch(r"holds \d+ entries of partition \d, and the newest \d+", str(why))
    lying_open.say(range(200, 202), owner="ada")
    (left,) = rotated(backups, 4, 1).left
    assert re.fullmatch(r"holds other entries of partition \d than the newest", left["why"])
    told = lying_open.cli("backup", "make", str(backups), "--keep", "1", code=3).out
    assert f"{night(1)} stays: holds other entries" in told
    assert lying_open.cli.json("backup", "check", str(backups / night(1)))["events"] == EVENTS + 1


def test_what_others_put_there_stays(lying_open: Depot, backups: Path) -> None:
    depot, by_hand = lying_open, lying_open.make("backups/monday")
    of_another = backups / night(1)
    depot.on("another")
    depot.say(range(3))
    rotated(backups, 1, 1)
    depot.on("data")
    (backups / night(2)).symlink_to(by_hand)
    (backups / night(3)).mkdir()
    (backups / "notes").write_text("mine")
    rotated(backups, 4, 1)
    (backups / night(4) / "notes").write_text("mine")
    done = rotated(backups, 5, 1)
    why = {one["name"]: one["why"] for one in done.left}
    assert why.keys() == {night(3), night(4)}
    assert "cannot be read" in why[night(3)]
    assert why[night(4)] == "holds more than a backup"
    assert (done.kept, done.removed) == ([night(5)], [])
    assert there(backups) == [*(night(one) for one in (1, 2, 3, 4, 5)), "monday", "notes"]
    assert of_another.is_dir()


def test_one_that_is_being_checked_or_restored_is_left_to_the_next_night(lying_open: Depot, backups: Path) -> None:
    rotated(backups, 1, 1)
    with held(open_backup(backups / night(1))):
        assert rotated(backups, 2, 1).left == [{"name": night(1), "why": "is being checked or restored"}]
    assert rotated(backups, 3, 1).removed == [night(1), night(2)]
    found = open_backup(backups / night(3))
    rmtree(backups / night(3))
    with pytest.raises(InputError, match="cannot be opened"), held(found):
        pytest.fail("it is gone")


def test_where_it_fails_none_goes(depot: Depot, backups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rotated(backups, 1, 1)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    def lost(*_: object) -> None:
        raise StoreUnavailable("the keys are lost")

    with open_the_store(load_settings()) as store, monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreUnavailable, match="No space left"):
            rotate_backups(store, load_settings(), backups, 1, name=lambda: night(2))
    assert there(backups) == [night(1)]
    if depot.sealed:
        monkeypatch.setattr("engramlog_server.ops.backup.make.save_keys", lost)
        with pytest.raises(StoreUnavailable, match="the keys are lost"):
            rotated(backups, 3, 1)
        assert there(backups) == [night(1)]


def test_killed_between_two_that_go_the_rest_goes_with_the_next(lying_open: Depot, backups: Path) -> None:
    for number in (1, 2, 3):
        rotated(backups, number, 3)
    killed(ROTATE, "before one goes", str(backups), "2", "4")
    assert there(backups) == [night(2), night(3), night(4)]
    going = backups / f".{night(2)}.making"
    (backups / night(2)).rename(going)  # as one that was killed while it went
    (going / "manifest.json").unlink()
    assert rotated(backups, 5, 1).removed == [night(3), night(4)]
    assert there(backups) == [night(5)]


def test_bad_input_says_what_is_allowed_and_makes_nothing(lying_open: Depot, backups: Path) -> None:
    assert (
        "keep: got '0'; allowed: at least 1"
        in lying_open.cli("backup", "make", str(backups), "--keep", "0", code=2).err
    )
    with pytest.raises(InputError, match="keep: got 1001; allowed: 1 to 1,000"):
        rotated(backups, 1, 1_001)
    for no_folder in (str(backups / "no"), "/dev/null"):
        assert f"folder: got '{no_folder}'" in lying_open.cli("backup", "make", "--keep", "7", no_folder, code=2).err
    assert "in the data folder" in lying_open.cli("backup", "make", "--keep", "7", str(lying_open.data), code=2).err
    assert there(backups) == []
