"""A stage for schedules told step by step: one partition, a ledger, workers with a fate, the same verdict at the end."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engramlog_server.events.envelope import derived_id, prepare
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.events.validation import make_event
from engramlog_server.projections.redis.create import open_store
from engramlog_server.projections.redis.store import read_checkpoint
from tests.chaos.attendants import live_keys, quarantined
from tests.chaos.cast import Actor, Server, wait_until
from tests.chaos.fate import SLEEP
from tests.chaos.ledger import Ledger, Line
from tests.chaos.story import BEGIN, CLOCK
from tests.chaos.verdict import Verdict, judge

LEASE_MS = 500
STORE_ID = "5f0c7d0e-8f0c-4f47-8b7f-3a1e5c1d2a90"


class Stage:
    """A store of one partition on a server that can be killed, and what happens on it."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.server = server
        self.client = server.client()
        self.wire = open_wire(self.client)
        self.tags = open_store(self.wire, store_id=STORE_ID, partitions=1).tags
        self.log = RedisEventLog(self.client, self.tags)
        self.ledger = Ledger()
        self._folder = folder
        self._cast: list[Actor] = []

    def close(self) -> None:
        """End everybody and every connection."""
        for actor in self._cast:
            actor.kill()
        self.log.close()
        self.wire.close()

    def another_producer(self) -> None:
        """From here on another process produces, which had no receipt of what was lost: to the ledger all is unanswered."""
        self.log.close()
        self.log = RedisEventLog(self.client, self.tags)
        self.ledger.forget_answers()

    def tell(self, owner: str, *told: Any) -> list[Line]:
        """Append these events of an owner in one request, all of which must be acknowledged."""
        lines = []
        for data in told:
            number = str(len(self.ledger.lines))
            event = make_event(
                data,
                owner=owner,
                occurred_at=BEGIN,
                actor="user",
                now=CLOCK,
                event_id=derived_id("stage", owner, number),
            )
            lines.append(self.ledger.enter(owner, prepare(event)))
        assert self.ledger.deliver(self.log, lines)
        return lines

    def worker(self, *, asleep_at: str | None = None, passes: int = 1, mutant: str = "", older: bool = False) -> Actor:
        """Start a worker; `asleep_at`: the named point at whose n-th pass it stops itself."""
        fate = ["--fate", SLEEP, "--at", asleep_at, "--passes", str(passes)] if asleep_at else []
        arguments = ["--url", self.server.url, "--lease-ms", str(LEASE_MS), "--mutant", mutant, *fate]
        log = self._folder / f"worker{len(self._cast)}.log"
        actor = Actor("tests.chaos.faulty_worker", *arguments, *(["--older"] if older else []), log=log)
        self._cast.append(actor)
        return actor

    def end_workers(self) -> None:
        """SIGTERM of everybody, who hand over."""
        for actor in self._cast:
            actor.end()

    def checkpoint(self) -> int:
        """How far the live build is folded."""
        return read_checkpoint(self.wire, live_keys(self.wire, self.tags[0])).seq

    def folded_to(self, seq: int) -> None:
        """Wait until the live build is folded that far."""
        wait_until(lambda: self.checkpoint() == seq, f"the checkpoint reaches {seq}")

    def parted(self, actor: Actor) -> str:
        """Wake a sleeper, wait until its commit was answered either way, kill it; gives what it told."""
        before = self.checkpoint()
        actor.wake()
        wait_until(lambda: self.checkpoint() != before or _refused(actor), "the sleeper's commit is answered")
        actor.kill()
        return actor.told()

    def settled(self) -> Verdict:
        """Everybody else gone, a sound worker finishes; then the verdict."""
        for actor in self._cast:
            actor.kill()
        self.worker()
        self.folded_to(self.log.head(0))
        assert not quarantined(self.wire, self.tags[0])
        return judge(self.client, self.tags, self.ledger)


def _refused(actor: Actor) -> bool:
    return any(fact in actor.told() for fact in ('"fold stopped"', '"store refused"', '"worker reconnected"'))


def asleep(actor: Actor) -> None:
    """Wait until an actor stopped itself at its named point."""
    wait_until(lambda: actor.halted, "the worker falls asleep at its named point")


@contextmanager
def staged(folder: Path, *, port: int = 0, binary: Path | None = None) -> Iterator[Stage]:
    """A stage on a fresh server, taken down at the end."""
    server = Server(folder, port=port, binary=binary)
    try:
        server.start()
        stage = Stage(folder, server)
        try:
            yield stage
        finally:
            stage.close()
    finally:
        server.close()


class Flip:
    """A fail-over to a replica that lags, and back: connections to the first server live on, its data do not."""

    def __init__(self, stage: Stage, replica: Server) -> None:
        self._stage = stage
        self._replica = replica
        with replica.client() as client:
            client.execute_command("REPLICAOF", "127.0.0.1", stage.server.port)
        wait_until(lambda: _in_step(replica), "the replica has caught up")

    def cut(self) -> None:
        """From here on the replica knows nothing new; it must have the checkpoint that the stage shows."""
        keys, wire = live_keys(self._stage.wire, self._stage.tags[0]), open_wire(self._replica.client())
        wait_until(lambda: read_checkpoint(wire, keys).seq == self._stage.checkpoint(), "the replica follows")
        wire.call("REPLICAOF", "NO", "ONE")
        wire.close()

    def there_and_back(self) -> None:
        """The replica's data become the server's: what came after the cut is gone."""
        wire = open_wire(self._stage.client)
        wire.call("REPLICAOF", "127.0.0.1", self._replica.port)
        wait_until(lambda: _in_step(self._stage.server), "the old primary has taken over the replica's data")
        wire.call("REPLICAOF", "NO", "ONE")
        wire.close()


def _in_step(replica: Server) -> bool:
    with replica.client() as client:
        facts = client.info("replication")
    return facts.get("master_link_status") == "up" and not facts.get("master_sync_in_progress")


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def with_replica(folder: Path) -> Iterator[tuple[Stage, Flip]]:
    """A stage whose server has a replica."""
    replica = Server(folder, "replica", port=free_port())
    try:
        replica.start()
        with staged(folder, port=free_port()) as stage:
            yield stage, Flip(stage, replica)
    finally:
        replica.close()
