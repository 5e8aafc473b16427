"""The disk under a data folder: warned of before it is full, and closed to writes before Redis meets its end.

With `appendfsync always` redis-server ends at the first write that finds no room (6.2.14 and 7.0.15, tried), and with it every
answer. So shortly before that it is told to take no writes: reads go on, appends are refused with the disk's name, and once there
is room again it takes writes by itself. A rewrite of the append-only file needs as much again as the file: warned of first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import redis

from engramlog_server.events.alarms import Alarms

MIB = 1 << 20
RESERVE = 32 * MIB
"""Free bytes under which no writes are taken; of a small disk a twentieth."""
SPARE = 64 * MIB
"""Free bytes that are wanted beside room for a rewrite; of a small disk a tenth."""
LOCK, UNLOCK = 1, 0
"""Values of `min-replicas-to-write`: a server without replicas takes no writes under 1."""
NEXT_SECONDS = 0.25


class Disk(NamedTuple):
    """How the disk of a folder stands, in bytes; `log`: of the append-only files on it."""

    free: int
    total: int
    log: int

    @property
    def reserve(self) -> int:
        """Free bytes that must be left."""
        return min(RESERVE, self.total // 20)

    @property
    def is_full(self) -> bool:
        """Whether no more may be written."""
        return self.free < self.reserve

    @property
    def wanted(self) -> int:
        """Free bytes with which a rewrite, and what is appended meanwhile, have room."""
        return self.log + min(SPARE, self.total // 10)

    @property
    def is_at_its_end(self) -> bool:
        """Whether not even an alarm may be written."""
        return self.free < self.reserve // 4

    @property
    def is_low(self) -> bool:
        """Whether a rewrite may find no room."""
        return self.free < self.wanted

    def told(self, folder: Path, needed: int) -> str:
        """Which disk, how much is free of it, and how much is needed."""
        return (
            f"the disk of {folder} has {_amount(self.free)} free of {_amount(self.total)}; {_amount(needed)} are needed"
        )


Look = Callable[[], Disk]


def look(folder: Path) -> Disk:
    """The disk now. Raises OSError where the folder is gone."""
    found = os.statvfs(folder)
    return Disk(found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize, sum(_sizes(folder)))


def _sizes(folder: Path) -> Iterable[int]:
    for file in (folder / "appendonly.aof", *(folder / "appendonlydir").glob("*")):
        with suppress(OSError):
            yield file.stat().st_size


class DiskGuard:
    """Watches the disk of a server that is this process's own. `client` speaks to that server; not for two threads at once."""

    def __init__(self, folder: Path, client: redis.Redis, alarms: Alarms, look: Look) -> None:
        self._folder = folder
        self._client = client
        self._alarms = alarms
        self._look = look
        self._raised: set[str] = set()
        self._set_to: int | None = None
        """What the server was told; None as long as it was told nothing: it may have been started locked."""

    @property
    def locked(self) -> bool:
        """Whether the server takes no writes for want of disk."""
        return self._set_to == LOCK

    def check(self) -> None:
        """Look at the disk, and open or close the server for writes."""
        with suppress(redis.RedisError, OSError):  # a server or a folder that is gone is reported elsewhere
            self._act_on(self._look())

    def _act_on(self, disk: Disk) -> None:
        if disk.is_full:
            text = disk.told(self._folder, disk.reserve)
            self._raise(
                "disk_full", f"{text}: no writes are taken until then, reads go on"
            )  # first: it is a write itself
            self._set(LOCK)
        elif self._set_to is None or (self.locked and disk.free >= 2 * disk.reserve):
            self._set(UNLOCK)
            self._clear("disk_full")
        if disk.is_low and not self.locked:
            text = disk.told(self._folder, disk.wanted)
            self._raise("disk_low", f"{text} for the next rewrite of the log, which takes as much again as the log")
        elif not disk.is_low and not self.locked:
            self._clear("disk_low")

    def _set(self, value: int) -> None:
        if self._set_to != value:
            self._client.config_set("min-replicas-to-write", value)
            self._set_to = value

    def _raise(self, name: str, text: str) -> None:
        if name not in self._raised:
            self._raised.add(name)
            self._alarms.raised(name, "", text)

    def _clear(self, name: str) -> None:
        """Also what an earlier process raised: whether one did is asked once."""
        if name in self._raised or f"{name} asked" not in self._raised:
            self._raised -= {name}
            self._raised.add(f"{name} asked")
            self._alarms.cleared(name)


def _amount(size: int) -> str:
    return f"{size / MIB:,.1f} MiB"


def full_disk_text(folder: Path) -> str:
    """A sentence about the disk where that may be why something ended; "" else."""
    try:
        disk = look(folder)
    except OSError:
        return ""
    return f"\n  {disk.told(folder, disk.reserve)}: make room, then run it again" if disk.is_full else ""
