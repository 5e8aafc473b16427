"""The tests of `--part rest` have their folders in memory where there is room, and on the disk where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import memory


class Config:
    """What pytest is told of a run, and the endings that are left to it."""

    def __init__(self, part: str | None, basetemp: str | None = None) -> None:
        self.option = Namespace(part=part, basetemp=basetemp)
        self.endings: list[Callable[[], None]] = []

    def getoption(self, name: str) -> str | None:
        """The value of an option."""
        told: str | None = getattr(self.option, name.removeprefix("--"))
        return told

    def add_cleanup(self, ending: Callable[[], None]) -> None:
        """Note what is to be done at the end."""
        self.endings.append(ending)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the disk of memory."""
    monkeypatch.setattr(memory, "IN_MEMORY", tmp_path)
    monkeypatch.setattr(memory, "has_room", lambda where: where == tmp_path)
    return tmp_path


def configured(config: Config) -> str | None:
    """Where the run's folders go; None where pytest decides."""
    memory.pytest_configure(config)  # type: ignore[arg-type]
    told: str | None = config.option.basetemp
    return told


def test_folders_of_the_rest_go_to_memory_and_leave_it_at_the_end(place: Path) -> None:
    config = Config("rest")
    folder = Path(configured(config) or "")
    assert folder.parent.parent == place
    folder.mkdir()
    (folder / "left").write_text("by a test")
    for ending in config.endings:
        ending()
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(("part", "named"), [("quick", None), (None, None), ("rest", "/named")])
def test_what_guards_a_promise_and_what_was_named_stay_where_they_are(
    place: Path, part: str | None, named: str | None
) -> None:
    assert configured(Config(part, named)) == named
    assert list(place.iterdir()) == []


def test_without_room_pytest_decides(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "has_room", lambda _place: False)
    assert configured(Config("rest")) is None


def test_what_a_killed_run_left_is_removed_and_nobody_elses(place: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    gone.wait()
    for name in (f"engramlog-{gone.pid}", f"engramlog-{os.getpid()}", "engramlog-notes", "other-1"):
        (place / name / "t").mkdir(parents=True)
    memory.clear_left(place)
    assert {one.name for one in place.iterdir()} == {f"engramlog-{os.getpid()}", "engramlog-notes", "other-1"}


def test_what_a_killed_run_of_our_own_id_left_is_no_hindrance(place: Path) -> None:
    left = place / f"engramlog-{os.getpid()}"
    (left / "t").mkdir(parents=True)
    assert configured(Config("rest")) == str(left / "t")
    assert list(left.iterdir()) == []


def test_a_name_that_somebody_else_has_taken_is_left_to_him_and_pytest_decides(place: Path) -> None:
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    for name in (os.getpid(), 2**30):  # the second is no process's
        (place / f"engramlog-{name}").symlink_to(elsewhere)
    assert configured(Config("rest")) is None
    assert len(list(place.iterdir())) == 3


def test_room_is_what_is_free_where_we_may_write(tmp_path: Path) -> None:
    assert not memory.has_room(tmp_path / "missing", 0)
    assert not memory.has_room(tmp_path, 1 << 60)
