"""A machine that can be lost: a sealed data folder, its master key and the backup of the keys beside it."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import pytest

from engramlog_server.ops.keys.master import make_key_file
from engramlog_server.ops.main import main
from tests.acceptance.helpers.cli import Cli, event, lines

AT = ("--at", "2026-02-01T00:00:00Z")
OWNERS = ("ada", "lin-yue", "团队")
EVENTS = 12


class Machine:
    """The data folder of a store with four memories of each owner; all that is asked goes by the command line."""

    def __init__(
        self, cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
    ) -> None:
        self.cli, self.folder, self._capture = cli, folder, capture
        self.data, self.key, self.keys = folder / "data", folder / "key", folder / "keys"
        make_key_file(self.key)
        monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
        monkeypatch.setenv("ENGRAMLOG_DATA", str(self.data))
        monkeypatch.setenv("ENGRAMLOG_PARTITIONS", "2")
        monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(self.key))
        monkeypatch.setenv("ENGRAMLOG_KEYS_BACKUP", str(self.keys))
        self.say(range(EVENTS))
        self.answers()

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

    def copy(self) -> Path:
        """A copy of the data folder, as it stands now."""
        copy = self.folder / f"copy{len(list(self.folder.glob('copy*')))}"
        copytree(self.data, copy)
        return copy

    def lose(self, copy: Path) -> None:
        """The machine is lost, and a new one has a copy of what was."""
        rmtree(self.data)
        copytree(copy, self.data)

    def erase(self, *words: str) -> list[dict[str, Any]]:
        """Erase; what the audit says of leftovers is another test's. Gives the certificates."""
        self._capture.readouterr()
        code = main(["erase", *words, "--yes", "--json"])
        told = json.loads(self._capture.readouterr().out)
        assert code in (0, 1, 3), told
        found: list[dict[str, Any]] = told["certificates"] if "--again" in words else [told]
        assert all(one["verified"] for one in found)
        return found
