"""A live store for a test: a log, fold workers in threads, and what the workers told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from secrets import token_bytes
from threading import Event as Flag
from threading import Thread
from typing import Any

from redis import Redis

from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.catalogue import MemoryCreated, MemoryMentioned
from engramlog_server.events.envelope import Prepared, derived_id, from_micros, prepare
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.keys import MasterKey, OpenKeyStore
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.partitions import DEFAULT_PARTITIONS, partition_of
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.secrets import Chance
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.events.validation import make_event
from engramlog_server.events.vocabulary import Actor
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.create import StoreIdentity, open_store
from engramlog_server.projections.redis.store import read_checkpoint
from tests.given.key_stores import shared_keys
from tests.patience import PATIENCE


def wait_until(what: Callable[[], Any], *, seconds: float = PATIENCE) -> Any:
    """The first true answer; fails the test after `seconds` without one."""
    end = time.monotonic() + seconds
    while True:
        answer = what()
        if answer:
            return answer
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.01)


class Live:
    """One store in a real Redis with workers in threads of the test."""

    def __init__(
        self,
        url: str,
        partitions: int = DEFAULT_PARTITIONS,
        timeout: float = 10.0,
        master: MasterKey | None = None,
        chance: Chance = token_bytes,
        keys: OpenKeyStore = shared_keys,
    ) -> None:
        self.client = connect(url, timeout=timeout, master=master, keys=keys)
        self.identity: StoreIdentity = open_store(open_wire(self.client), store_id="test", partitions=partitions)
        self.log = RedisEventLog(self.client, self.identity.tags, chance=chance)
        self.facts: list[tuple[str, dict[str, Any]]] = []
        self._running: list[tuple[Flag, Thread, FoldWorker]] = []
        self._count = 0

    def start_worker(self, name: str, *, client: Redis | None = None, **options: Any) -> FoldWorker:
        """One more worker, in a thread; with a `client` of its own, as another process has."""
        stop = Flag()
        worker = FoldWorker(client or self.client, self.identity.tags, name, tell=self._told, **options)
        thread = Thread(target=worker.run, args=(stop,), name=name)
        thread.start()
        self._running.append((stop, thread, worker))
        return worker

    def stop_worker(self, name: str) -> None:
        """Stop a worker as SIGTERM does."""
        for stop, thread, worker in self._running:
            if worker.worker_id == name:
                stop.set()
                thread.join(PATIENCE)
                assert not thread.is_alive()

    def _told(self, fact: str, **context: Any) -> None:
        self.facts.append((fact, context))

    def told(self, fact: str) -> list[dict[str, Any]]:
        """What was told under this name so far."""
        return [context for name, context in self.facts if name == fact]

    def created(self, owner: str, memory_id: str, content: str = "said once") -> Prepared:
        """An event that creates a memory."""
        return self.event(
            MemoryCreated(memory_id=memory_id, content=content, category="fact", kind="fact", source="user"), owner
        )

    def mentioned(self, owner: str, memory_id: str) -> Prepared:
        """An event that mentions it."""
        return self.event(MemoryMentioned(memory_id=memory_id), owner)

    def event(self, data: Any, owner: str, actor: Actor = "user") -> Prepared:
        """Any event, of yesterday."""
        self._count += 1
        when = from_micros(self.log.now()) - timedelta(days=1)
        event_id = derived_id("live", str(self._count))
        return prepare(
            make_event(data, owner=owner, occurred_at=when, actor=actor, now=self.log.now(), event_id=event_id)
        )

    def append(self, *events: Prepared) -> list[AppendReceipt]:
        """Append, sending again while the store is not reached; every event must be written."""
        receipts = wait_until(lambda: self.try_append(*events))
        assert all(receipt.written for receipt in receipts), receipts
        return receipts

    def try_append(self, *events: Prepared) -> list[AppendReceipt] | None:
        """Append, or None where the store was not reached."""
        try:
            return self.log.append(events)
        except StoreUnavailable:
            return None

    def tag_of(self, owner: str) -> str:
        """The hash tag of an owner's partition."""
        return self.identity.tags[partition_of(owner, len(self.identity.tags))]

    def folded(self) -> bool:
        """Whether every partition's checkpoint is its head."""
        return all(map(self.folded_of, range(len(self.identity.tags))))

    def folded_of(self, partition: int) -> bool:
        """Whether a partition's checkpoint is its head."""
        wire, tag = open_wire(self.client), self.identity.tags[partition]
        try:
            live = (wire.call("HGET", f"{{{tag}}}:meta", "live") or b"").decode()
            return read_checkpoint(wire, BuildKeys(tag, live)).seq == self.log.head(partition)
        finally:
            wire.close()

    def differences(self) -> list[dict[str, Any]]:
        """What `verify` finds in every partition."""
        tags = enumerate(self.identity.tags)
        return [one for number, tag in tags for one in verify_partition(self.client, number, tag).differences]

    def close(self) -> None:
        """Stop every worker and connection."""
        for stop, _, _ in self._running:
            stop.set()
        for _, thread, _ in self._running:
            thread.join(PATIENCE)
        self.log.close()
        self.client.close()


@contextmanager
def live_store(
    url: str,
    partitions: int = DEFAULT_PARTITIONS,
    timeout: float = 10.0,
    master: MasterKey | None = None,
    chance: Chance = token_bytes,
) -> Iterator[Live]:
    """A live store for the length of a test; a sealed one where a `master` key is given."""
    store = Live(url, partitions, timeout, master, chance)
    try:
        yield store
    finally:
        store.close()
