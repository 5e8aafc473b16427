"""Backups and restores that are killed: one is there whole or not at all, the other is gone on with, and nothing else opens it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tests.integration.backup.depot import EVENTS, Depot, killed

MAKING = [
    "before the heads are read",
    "after the heads are read",
    "after a page",
    "after a partition",
    "before the manifest",
    "before it is proved",
    "before it has its name",
    "after it has its name",
]
RESTORING = [
    "before the mark",
    "after the mark",
    "after a partition is begun",
    "after a page",
    "after a partition is laid",
    "after it was proved",
]
OPEN = ["lease taken", "before a switch", "after a switch", "before its format is set", "after its format is set"]
SEALED = ("after the keys", "before a switch", "before its format is set", "after its format is set")
MAKE = """
import sys
from pathlib import Path
from engramlog_server.ops.backup.make import make_backup
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import open_the_store
from tests.chaos.fate import DIE, fated
with open_the_store(load_settings()) as store:
    make_backup(store, load_settings(), Path(sys.argv[2]), probe=fated(DIE, sys.argv[1], 1))
"""
RESTORE = """
import sys
from pathlib import Path
from engramlog_server.ops.backup.folder import open_backup
from engramlog_server.ops.backup.restore import restore_backup
from engramlog_server.ops.settings import load_settings
from tests.chaos.fate import DIE, fated
keys = load_settings().keys_backup
restore_backup(load_settings(), open_backup(Path(sys.argv[2])), keys, probe=fated(DIE, sys.argv[1], int(sys.argv[3])))
"""


def left(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.glob(".*making"))


def test_one_that_is_killed_is_not_there_and_the_next_of_its_name_is_whole(depot: Depot) -> None:
    for number, point in enumerate(MAKING):
        made = depot.folder / f"backup{number}"
        killed(MAKE, point, str(made))
        if point != MAKING[-1]:
            assert not made.exists(), point
            assert left(depot.folder) == [f".{made.name}.making"]
            told = depot.cli.json("backup", "make", str(made))
            assert told["events"] == EVENTS, point
        assert left(depot.folder) == [], point
        assert depot.cli.json("backup", "check", str(made))["events"] == EVENTS, point


def test_what_killed_ones_left_goes_with_the_next_one_beside_it_and_nothing_else_does(lying_open: Depot) -> None:
    killed(MAKE, "after a partition", str(lying_open.folder / "monday"))
    others = lying_open.folder / ".photos.making"
    others.mkdir()
    (others / "picture.png").write_bytes(b"x")
    busy = lying_open.folder / ".sunday.making"
    busy.mkdir()
    descriptor = os.open(busy, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    link = lying_open.folder / ".link.making"
    link.symlink_to(busy)
    assert ".monday.making" in left(lying_open.folder)
    lying_open.make("wednesday")
    assert left(lying_open.folder) == [".link.making", ".photos.making", ".sunday.making"]
    os.close(descriptor)
    lying_open.make("thursday")
    assert left(lying_open.folder) == [".link.making", ".photos.making"]


def test_a_restore_is_gone_on_with_from_wherever_it_was_killed_and_nothing_opens_it_meanwhile(depot: Depot) -> None:
    answers, made = depot.answers(), depot.make()
    for number, point in enumerate([*RESTORING, *(SEALED if depot.sealed else OPEN)]):
        depot.on(f"new{number}")
        killed(RESTORE, point, str(made), "1")
        ended = point == "after its format is set"
        if point != RESTORING[0] and not ended:
            told = depot.cli("list", "ada", code=1).err
            assert "engramlog backup restore" in told, point
            assert "OtherFormat" in told
        told = depot.restore(made)
        assert told["gone_on"] is (point != RESTORING[0]), point
        assert depot.answers() == answers, point
        assert depot.alarms() == {"store_restored"}, point
        if number % 4 == 0:
            assert depot.cli.json("verify")["differences"] == [], point


def test_a_restore_that_is_killed_again_and_again_ends(depot: Depot) -> None:
    answers, made = depot.answers(), depot.make()
    depot.on("new")
    for point, passes in (
        ("after the mark", 1),
        ("after a partition is begun", 2),
        ("after a page", 1),
        ("after it was proved", 1),
    ):
        killed(RESTORE, point, str(made), str(passes))
    depot.restore(made)
    assert depot.answers() == answers
    assert depot.cli.json("verify")["ok"]


def test_another_backup_does_not_go_on_with_what_one_left(depot: Depot) -> None:
    made, second = depot.make(), depot.make("second")
    depot.on("new")
    killed(RESTORE, "after a page", str(made), "1")
    told = depot.restore(second, code=1)
    assert "lies there" in told["message"]
    assert "restored from backup" in told["message"]
    assert depot.restore(made)["gone_on"] is True
