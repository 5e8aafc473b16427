"""A store whose backups are made, lost and brought back; all that is asked goes by the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from engramlog_server.events.catalogue import MemoryCreated
from engramlog_server.events.envelope import Prepared, derived_id, micros, prepare
from engramlog_server.events.validation import make_event
from engramlog_server.ops.keys.master import make_key_file
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.patience import PATIENCE
from tests.places import ROOT

AT = ("--at", "2026-02-01T00:00:00Z")
OWNERS = ("ada", "lin-yue", "团队")
EVENTS = 12
TOLD = datetime(2026, 1, 5, tzinfo=UTC)


class Depot:
    """A data folder with four memories of each owner, a place for backups, its keys too if it is sealed."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capture: pytest.CaptureFixture[str],
        folder: Path,
        *,
        sealed: bool,
        partitions: int = 2,
    ) -> None:
        self.cli, self.folder, self.sealed = Cli(monkeypatch, capture), folder, sealed
        self._monkeypatch = monkeypatch
        self.keys = folder / "keys"
        monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
        monkeypatch.setenv("ENGRAMLOG_PARTITIONS", str(partitions))
        if sealed:
            make_key_file(folder / "key")
            monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(folder / "key"))
            monkeypatch.setenv("ENGRAMLOG_KEYS_BACKUP", str(self.keys))
        else:
            monkeypatch.setenv("ENGRAMLOG_SEALED_BY", "none")
        self.data = self.on("data")
        self.say(range(EVENTS))

    def on(self, name: str) -> Path:
        """From here on commands use the data folder of this name."""
        self.data = self.folder / name
        self._monkeypatch.setenv("ENGRAMLOG_DATA", str(self.data))
        return self.data

    def say(self, numbers: range, owner: str | None = None) -> None:
        """A memory a number, each with a word of its own."""
        told = [event(at, owner or OWNERS[at % 3], content=f"the key word is w{at}w today") for at in numbers]
        assert self.cli.json("append", "-", stdin=lines(told))["appended"] == len(told)

    def answers(self, *owners: str) -> dict[str, list[str]]:
        """Contents of each owner as they are listed."""
        return {
            owner: sorted(one["memory"] for one in self.cli.json("list", owner, "--mode", "review", *AT)["memories"])
            for owner in owners or OWNERS
        }

    def make(self, name: str = "backup") -> Path:
        """A backup, and of a sealed store its keys."""
        made = self.folder / name
        self.cli.json("backup", "make", str(made))
        if self.sealed:
            self.cli.json("backup", "keys")
        return made

    def restore(self, made: Path, *words: str, code: int = 0) -> Any:
        """Bring a backup into the data folder in use."""
        return self.cli.json("backup", "restore", str(made), *words, "--yes", code=code)

    def lose(self) -> None:
        """The data folder in use is gone."""
        rmtree(self.data)

    def alarms(self, code: int = 1) -> set[str]:
        """Names of the alarms that stand."""
        return {one["name"] for one in self.cli.json("alarms", code=code)["alarms"]}


def prepared(number: int, owner: str) -> Prepared:
    """A memory, ready to be appended past the command line; the same number has the same id."""
    data = MemoryCreated(
        memory_id=f"p{number}", content=f"meanwhile {number}", category="fact", kind="note", source="user"
    )
    return prepare(
        make_event(
            data,
            owner=owner,
            occurred_at=TOLD,
            actor="user",
            now=micros(TOLD),
            event_id=derived_id("backup", owner, str(number)),
        )
    )


def killed(script: str, *words: str) -> str:
    """Run a script that dies by SIGKILL; what it said on standard error."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=4 * PATIENCE,
        check=False,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL, (words, done.stderr)
    return done.stderr
