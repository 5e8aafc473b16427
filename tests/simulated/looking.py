"""What servers and processes took between two looks: commands by kind, CPU, and who holds how many partitions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import redis

_TICKS = os.sysconf("SC_CLK_TCK")


class Look(NamedTuple):
    """What was counted up to one moment."""

    at: float
    commands: Mapping[str, int]
    """Calls by kind, those that scripts make too."""
    cpu: Mapping[int, float]
    """Seconds by process."""


class Taken(NamedTuple):
    """What was taken between two looks, a second."""

    seconds: float
    commands: Mapping[str, float]
    cpu: Mapping[int, float]
    """Share of a core by process, 0 to 1."""

    def top(self, *kinds: str) -> float:
        """Calls a second of these kinds."""
        return sum(self.commands.get(kind, 0.0) for kind in kinds)


def cpu_of(process: int) -> float:
    """Seconds of CPU that a process has taken, its children's not."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / _TICKS


def look(servers: Sequence[redis.Redis], processes: Sequence[int]) -> Look:
    """Now; of several servers the sum."""
    commands: dict[str, int] = {}
    for server in servers:
        for name, told in server.info("commandstats").items():
            kind = name.removeprefix("cmdstat_")
            commands[kind] = commands.get(kind, 0) + int(told["calls"])
    return Look(monotonic(), commands, {process: cpu_of(process) for process in processes})


def between(before: Look, after: Look) -> Taken:
    """What was taken between two looks."""
    seconds = after.at - before.at
    commands = {kind: (many - before.commands.get(kind, 0)) / seconds for kind, many in after.commands.items()}
    cpu = {one: (taken - before.cpu[one]) / seconds for one, taken in after.cpu.items() if one in before.cpu}
    return Taken(seconds, commands, cpu)
