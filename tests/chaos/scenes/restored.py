"""The scene in which a machine is lost, and its sealed store comes back on an empty one from backup, keys and master key."""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import closing
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

from tests.chaos.cast import wait_until
from tests.chaos.scene import Up, command, verified
from tests.chaos.verdict import Verdict

OWNERS = ("ada", "bob")
ENOUGH = 4
"""Memories that are acknowledged before the backup begins."""


class _Speaker(Thread):
    """Adds memories until it is ended, and notes which are acknowledged."""

    def __init__(self, up: Up) -> None:
        super().__init__(daemon=True)
        self._up = up
        self._ended = Flag()
        self.told: list[tuple[str, str]] = []
        """Owner and words."""

    def run(self) -> None:
        while not self._ended.is_set():
            number = len(self.told)
            owner, words = OWNERS[number % len(OWNERS)], f"I read letter {number} at the kiln"
            code, answer = self._up.command("add", owner, words)
            assert code == 0, answer
            self.told.append((owner, words))

    def close(self) -> None:
        self._ended.set()
        self.join()


def a_restore_on_an_empty_machine(folder: Path, _seed: int) -> Verdict:
    """A backup is made while memories are added; then all is gone but the backup, the keys and the master key."""
    first, empty = folder / "first", folder / "empty"
    for machine in (first, empty):
        machine.mkdir(mode=0o700)
    assert command({}, ("master-key", "--new", str(first / "key")))[0] == 0
    up = Up(first / "data", folder / "up.log", **_keys(first))
    with closing(_Closing(up)), closing(_Speaker(up)) as speaker:
        up.serves()
        speaker.start()
        wait_until(lambda: len(speaker.told) >= ENOUGH, "memories are acknowledged")
        acknowledged = list(speaker.told)
        code, answer = up.command("backup", "make", str(first / "backup"), "--keys", str(first / "keys"))
        assert code == 0, answer
    shutil.copytree(first / "backup", empty / "backup")
    for name in ("keys", "key"):
        shutil.copy2(first / name, empty / name)
    shutil.rmtree(first)

    def there(*words: str) -> tuple[int, dict[str, Any]]:
        return command({"ENGRAMLOG_DATA": str(empty / "data"), "ENGRAMLOG_REDIS_URL": "", **_keys(empty)}, words)

    code, answer = there("backup", "restore", str(empty / "backup"), "--yes")
    assert code == 0, answer
    found: Counter[tuple[str, str]] = Counter()
    for owner in OWNERS:
        events = there("events", owner, "--type", "MemoryCreated")[1]["events"]
        found.update((owner, one["data"]["content"]) for one in events)
    missing, twice = set(acknowledged) - found.keys(), [one for one, times in found.items() if times > 1]
    assert not missing, f"acknowledged, and not in the restored store: {sorted(missing)}"
    assert not twice, f"more than once in the restored store: {twice}"
    assert found.keys() <= set(speaker.told), "an event that nobody added"
    verified(there)
    return Verdict(acknowledged=len(acknowledged), applied=len(found))


class _Closing:
    """Ends `up`, however the scene goes."""

    def __init__(self, up: Up) -> None:
        self.close = up.end


def _keys(machine: Path) -> dict[str, str]:
    return {"ENGRAMLOG_SEALED_BY": str(machine / "key"), "ENGRAMLOG_KEYS_BACKUP": str(machine / "keys")}
