"""Who else uses a store's Redis: what must be known before its log is replaced under them."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import NamedTuple

from consumers.fold.presence import live_workers
from events.redis.clock import redis_ms
from events.redis.wire import Wire

LOOK_SECONDS = 0.05


class Other(NamedTuple):
    """A fold worker, or a connection of somebody else."""

    what: str
    """`worker`, `connection`, and those that append nothing: `replica`, `monitor`, `sentinel`."""
    name: str
    """A worker's id, or where a connection comes from."""
    told: str
    """What else is known of it."""

    @property
    def may_append(self) -> bool:
        """Whether it could be a process of Engramlog."""
        return self.what in ("worker", "connection")

    @property
    def text(self) -> str:
        """One phrase."""
        return f"{self.what} {self.name} ({self.told})"


class Company(NamedTuple):
    """Who was found."""

    others: tuple[Other, ...]
    hidden: str | None = None
    """Why connections could not be listed; None where they were."""

    @property
    def workers(self) -> list[Other]:
        """Fold workers that live."""
        return [one for one in self.others if one.what == "worker"]

    @property
    def appending(self) -> list[Other]:
        """All that could append."""
        return [one for one in self.others if one.may_append]


def company(wire: Wire, lease_ms: int) -> Company:
    """Everybody but this connection, now. Reads only. Raises StoreError."""
    live = live_workers(wire, redis_ms(wire), lease_ms)
    workers = [
        Other("worker", name, f"holds {len(facts.get('partitions', ()))} partition(s)") for name, facts in live.items()
    ]
    connected, servers = list[Other](), wire.servers()
    if wire.cluster is not None:
        wire.cluster.rest()  # our own connections to its nodes are not company
    for _, server in servers:
        mine, listed = server.pipeline([["CLIENT", "ID"], ["CLIENT", "LIST"]])
        for answer in (mine, listed):
            if isinstance(answer, Exception):
                return Company(tuple(workers), str(answer))
        others = [_other(line) for line in listed.decode("utf-8", "backslashreplace").splitlines() if line]
        connected += [one for number, one in others if number != str(mine)]
    connected.sort(key=lambda one: not one.told.startswith("named "))  # a refusal shows the first few
    return Company((*workers, *connected))


def _other(line: str) -> tuple[str, Other]:
    """A connection's number and what it is, from its line in CLIENT LIST."""
    told = dict(part.partition("=")[::2] for part in line.split(" "))
    flags, name = told.get("flags", ""), told.get("name", "")
    what = "connection"
    if "S" in flags:
        what = "replica"
    elif "O" in flags:
        what = "monitor"
    elif name.startswith("sentinel-"):
        what = "sentinel"
    words = [f"named {name}"] if name else []
    words += [f"last command {told.get('cmd', 'unknown')}", f"idle for {told.get('idle', '?')} s"]
    return told.get("id", ""), Other(what, told.get("addr", "of unknown address"), ", ".join(words))


def await_alone(
    wire: Wire,
    lease_ms: int,
    seconds: float,
    *,
    only_workers: bool = False,
    on_wait: Callable[[str], None] = lambda _told: None,
) -> Company:
    """Who is there in the end: as soon as nobody that could append (`only_workers`: no worker), else after so many seconds.

    A worker that was killed counts as living until its lease time has passed, and a connection until Redis notices its end.
    """
    end = monotonic() + seconds
    while True:
        found = company(wire, lease_ms)
        there = found.workers if only_workers else found.appending
        if not there or monotonic() >= end:
            return found
        on_wait(f"waiting for {there[0].text} to leave")
        sleep(LOOK_SECONDS)
