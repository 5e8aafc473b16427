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
