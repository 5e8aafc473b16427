"""What every command that brings a whole store over does alike: reach it, tell what it is, refuse company, do it, tell again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import redis

from engramlog_server.consumers.encryption import count_vectors
from engramlog_server.consumers.fold.presence import LEASE_MS, live_workers
from engramlog_server.events.errors import EmbeddedRedisError, StoreError, StoreMismatch
from engramlog_server.events.redis.cluster import ClusterWire
from engramlog_server.events.redis.server import connect, redis_ms
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.ops.embedded.aof import holds_store
from engramlog_server.ops.embedded.folder import read_server_file
from engramlog_server.ops.embedded.server import EmbeddedRedis
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import reach_the_store
from engramlog_server.projections.redis.create import StoreIdentity, read_identity

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
    if isinstance(wire, ClusterWire):
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


ALONE_SECONDS = 2 * LEASE_MS / 1_000
"""How long others are given to leave: who was killed counts as living for a lease time."""
CURE = "restore a copy, or, where the change is known and meant, put that file away; nothing was changed"
Progress = Callable[[int, int], None]
"""Hears of how many entries read, of how many: each is read more than once."""


class InUse(StoreError):
    """Others use the store, or it is not known whether they do; nothing was changed."""

    status = 409


class NoStore(StoreMismatch):
    """There is no store where the settings say."""


@dataclass(slots=True)
class OldStore:
    """A store of whatever format, reached but not opened for use."""

    client: redis.Redis
    identity: StoreIdentity
    embedded: EmbeddedRedis | None
    settings: Settings

    def wire(self) -> Wire:
        """A connection of one's own."""
        return open_wire(self.client)


@contextmanager
def old_store(settings: Settings, *, on_wait: Callable[[str], None] | None = None) -> Iterator[OldStore]:
    """The store of these settings; none is made. Raises NoStore, InUse, or another StoreError."""
    if not settings.redis_url:
        _refuse_empty_folder(settings)
    with reach_the_store(settings, on_wait=on_wait) as (url, embedded, _):
        if embedded is not None and not embedded.owned:
            raise InUse(f"{_who(embedded.folder)} runs on {embedded.folder}: stop it first; nothing was changed")
        client = connect(url, timeout=settings.redis_timeout)
        with closing(open_wire(client)) as wire:
            identity = read_identity(wire)
        try:
            if identity is None:
                raise NoStore(
                    "that Redis holds no store (ENGRAMLOG_REDIS_URL): there is nothing to bring over, and none was made"
                )
            yield OldStore(client, identity, embedded, settings)
        finally:
            client.close()


def _who(folder: Path) -> str:
    """What serves the folder now, by the hint that it left there."""
    running = read_server_file(folder)
    if running is None:
        return "another process"
    return f"`engramlog {'mcp' if running.role == 'shared' else running.role}` (pid {running.started_by})"


def _refuse_empty_folder(settings: Settings) -> None:
    """Raises NoStore where the data folder holds neither a store's name nor anything of Redis."""
    folder = settings.data.expanduser()
    try:
        there = holds_store(folder)
    except OSError as error:
        raise EmbeddedRedisError(
            f"the data folder {folder} cannot be read: {error.strerror}", folder=str(folder)
        ) from error
    if not there:
        raise NoStore(f"{folder} holds no store (ENGRAMLOG_DATA): there is nothing to bring over, and none was made")


def what_is_there(store: OldStore, wire: Wire, *, events: int, seconds: int, done: bool) -> dict[str, Any]:
    """What is told of every store before it is brought over, JSON-ready: `seconds` is how long its `events` take, less the start.
    `done`: there is nothing to do. Reads only."""
    identity = store.identity
    others = company(wire, LEASE_MS) if store.embedded is None else Company(())
    return {
        "store_id": identity.store_id,
        "partitions": identity.partitions,
        "events": events,
        "vectors": 0 if done else count_vectors(wire, identity.tags),
        "about_seconds": 1 + seconds,
        "others": [one._asdict() for one in others.others],
        "others_hidden": others.hidden,
        "done": done,
    }


def refuse_others(
    store: OldStore, *, alone: bool, seconds: float = ALONE_SECONDS, on_wait: Callable[[str], None]
) -> None:
    """Raises InUse where somebody else could append. `alone`: somebody answers for it that no connection is Engramlog's."""
    with closing(store.wire()) as wire:
        found = await_alone(wire, LEASE_MS, seconds, only_workers=alone, on_wait=on_wait)
    in_the_way = found.workers if alone else found.appending
    if in_the_way:
        more = f", and {len(in_the_way) - 5} more" if len(in_the_way) > 5 else ""
        cure = "" if found.workers else "; where you know that none of them is Engramlog, --alone says so"
        raise InUse(
            f"others use this store: {'; '.join(one.text for one in in_the_way[:5])}{more}. Stop every `engramlog`, worker and"
            f" producer first{cure}. Nothing was changed",
            others=[one._asdict() for one in in_the_way],
        )
    if found.hidden is not None and not alone:
        raise InUse(
            f"Redis does not tell who is connected ({found.hidden}): stop every `engramlog`, worker and producer, and say so"
            " with --alone, or allow CLIENT LIST. Nothing was changed"
        )


def brought_over(
    store: OldStore,
    seal_plan: Callable[[OldStore], dict[str, Any]],
    steps: Callable[[Wire, Mapping[str, Any]], dict[str, Any]],
    *,
    alone: bool,
    seconds: float,
    on_wait: Callable[[str], None],
) -> dict[str, Any]:
    """Do the `steps`, once nobody else uses the store; gives what it is then, what it was found as, and what the steps told.

    `steps` gets a connection and what `seal_plan` tells, and leaves in `store.identity` what became of it. Raises InUse.
    """
    told = seal_plan(store)
    if told["done"]:
        return told
    refuse_others(store, alone=alone, seconds=seconds, on_wait=on_wait)
    with closing(store.wire()) as wire:
        more = steps(wire, told)
    return seal_plan(store) | {"found": told["found"], "vectors": told["vectors"]} | more


class Bar:
    """How far all partitions are together."""

    def __init__(self, tell: Progress, total: int) -> None:
        self._tell, self._total, self._passed = tell, total, 0

    def within(self, done: int, _all: int) -> None:
        """So many entries of the partition at hand are done."""
        self._tell(min(self._passed + done, self._total), self._total)

    def passed(self, entries: int) -> None:
        """So many entries more are done for good."""
        self._passed += entries
        self.within(0, 0)
