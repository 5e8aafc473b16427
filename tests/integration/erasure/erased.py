"""A sealed store in a real Redis with owners who know each other's neighbourhood, and erasures of them that can be killed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.consumers.verify.store import verify_store
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import OwnerErased
from engramlog_server.events.heads import Head
from engramlog_server.events.keys import is_tombstone
from engramlog_server.events.partitions import ERASURES, LogKeys, label_of, partition_of
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import StoreClient, Wire, open_wire
from engramlog_server.ops.erasure.fence_list import ALARM, ErasureStep, FenceList, list_path
from engramlog_server.ops.erasure.machine import ErasureCertificate, carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.keys.master import keys_of, make_key_file, master_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, open_the_store
from engramlog_server.projections.fold.changelog import FIRST_LINK
from engramlog_server.projections.redis.builds import BuildKeys, cipher_of, next_build
from engramlog_server.projections.redis.create import chain_on, known_identity
from engramlog_server.projections.redis.store import read_checkpoint, read_record
from tests.given.clusters.cluster import GivenCluster
from tests.given.samples import mention
from tests.integration.live import Live
from tests.servers import RedisServer

PARTITIONS = 2
ADA = "ada"
"""Who is erased."""
NEIGHBOURS = ("lin-yue", "团队", "bob", "eve")
"""Some of them in her partition, some not."""
WORD = "zebrafinch"
"""In every memory's words, and nowhere else."""
BRIEF_MS = 50


class Killed(BaseException):
    """Ends an erasure where it stands: nothing is handed over."""


class Erasing:
    """A sealed store with some memories folded; its owners, and erasures of them."""

    def __init__(
        self,
        server: RedisServer | GivenCluster,
        folder: Path,
        memories: int = 5,
        partitions: int = PARTITIONS,
        service: tuple[str, Path] | None = None,
        owners: Sequence[str] = (ADA, *NEIGHBOURS),
        keys: str | None = None,
    ) -> None:
        """`service`: the setting of a key service, and the file of its token; else a key file of its own. `keys`: of a second
        Redis."""
        self.server, self.partitions, self.memories = server, partitions, memories
        self._lives = 0
        key = folder / "key"
        if service is None:
            make_key_file(key)
        sealed_by, token = service or (str(key), None)
        self.settings = Settings(
            redis_url=server.url, data=folder / "data", sealed_by=sealed_by, vault_token_file=token, keys=keys
        )
        with self.live() as live:
            self.identity = live.identity
            for number in range(memories):
                for owner in owners:
                    live.append(live.created(owner, f"m{number}", f"the {WORD} {number} of {owner} sings"))
                    live.append(live.mentioned(owner, f"m{number}"))
        self.fold()

    @contextmanager
    def live(self) -> Iterator[Live]:
        """As a process that appends and folds."""
        live = Live(self.server.url, self.partitions, master=master_of(self.settings), keys=keys_of(self.settings))
        self._lives += 1
        live._count = 10_000 * self._lives
        try:
            yield live
        finally:
            live.close()

    def client(self) -> StoreClient:
        """A process with the key, which knows no owner's yet."""
        client = connect(self.server.url, timeout=10.0, master=master_of(self.settings), keys=keys_of(self.settings))
        known_identity(open_wire(client))
        return client

    @contextmanager
    def wire(self) -> Iterator[Wire]:
        """A connection of a process of its own."""
        client = self.client()
        wire = open_wire(client)
        try:
            yield wire
        finally:
            wire.close()
            client.close()

    @contextmanager
    def opened(self) -> Iterator[OpenStore]:
        """As a command opens it."""
        with open_the_store(self.settings) as store:
            yield store

    def fold(self) -> None:
        """Fold all that stands in the log."""
        with self.live() as live:
            worker = FoldWorker(live.client, live.identity.tags, "w")
            worker.drain({number: live.log.head(number) for number in range(self.partitions)}, 60.0)
            worker.hand_over()
            live.client.delete("engramlog:workers")

    def erase(self, owner: str = ADA, **options: Any) -> ErasureCertificate:
        """As `engramlog erase` does."""
        with self.opened() as store:
            return carry_out(
                store, self.settings, ErasurePlan(owner, (), "objection", "asked"), **{"lease_ms": BRIEF_MS} | options
            )

    def kill(self, point: str, passes: int = 1, owner: str = ADA) -> None:
        """Begin, and end as SIGKILL would at the n-th pass of a point."""
        left = passes

        def probe(at: str) -> None:
            nonlocal left
            left -= at == point
            if not left:
                raise Killed

        with pytest.raises(Killed):
            self.erase(owner, probe=probe)

    def tag(self, owner: str = ADA) -> str:
        """Of the owner's partition."""
        return self.identity.tags[partition_of(owner, self.partitions)]

    def neighbours_of(self, owner: str) -> list[str]:
        """Owners of the same partition."""
        return [one for one in NEIGHBOURS if self.number(one) == self.number(owner)]

    def is_fenced(self, owner: str = ADA) -> bool:
        """Whether the owner's key is destroyed."""
        with self.wire() as wire:
            return is_tombstone(wire.call("HGET", LogKeys(self.tag(owner)).secrets, owner))

    def listed(self) -> list[ErasureStep]:
        """What the list beside the store has."""
        return self.fences.read()

    @property
    def fences(self) -> FenceList:
        """The list itself."""
        return FenceList(list_path(self.settings, self.identity.store_id), self.identity.store_id)

    def label(self, owner: str = ADA) -> str:
        """What the owner is called there."""
        return label_of(self.identity.store_id, owner)

    def told(self) -> list[dict[str, Any]]:
        """What the log has under `:erasures`, oldest first."""
        with self.live() as live:
            events = live.log.read(partition_of(ERASURES, self.partitions), 0)
            return [json.loads(one.body)["data"] for one in events if one.owner == ERASURES]

    def agree(self) -> None:
        """The log and the list tell the same erasures by the same steps, each of which began once at the most."""
        told = [(one["erasure"], one["label"], one["step"]) for one in self.told()]
        listed = [(one.erasure, one.label, one.step) for one in self.listed()]
        assert set(told) == set(listed)
        began = [one for one in listed if one[2] == "began"]
        assert len(began) == len(set(began))

    def alarms(self) -> set[str]:
        """Those that stand."""
        with self.opened() as store:
            return {one.name for one in store.alarms.standing()}

    @property
    def alarm_stands(self) -> bool:
        """Whether it is told that an erasure did not end."""
        return ALARM in self.alarms()

    def differences(self) -> list[dict[str, Any]]:
        """What `engramlog verify` tells."""
        client = self.client()
        wire = open_wire(client)
        verdicts = [verify_partition(client, number, tag) for number, tag in enumerate(self.identity.tags)]
        verdicts.append(verify_store(wire))
        wire.close()
        client.close()
        return [one for verdict in verdicts for one in verdict.differences]

    def heads(self) -> dict[int, tuple[int, str]]:
        """Up to where each partition is folded, and the log's chain there."""
        found = dict[int, tuple[int, str]]()
        with self.wire() as wire:
            for number, tag in enumerate(self.identity.tags):
                folded = read_checkpoint(wire, self.build(wire, tag))
                found[number] = folded.seq, folded.head.hex()
        return found

    def number(self, owner: str = ADA) -> int:
        """Of the owner's partition."""
        return partition_of(owner, self.partitions)

    def chain_at(self, partition: int, seq: int) -> str:
        """The chain of a partition's log at a seq, computed off its entries."""
        with self.wire() as wire:
            return chain_on(wire, self.identity.tags[partition], Head(partition, 0, FIRST_LINK.hex()), seq)

    @staticmethod
    def build(wire: Wire, tag: str) -> BuildKeys:
        """The live one."""
        return BuildKeys(tag, (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode())

    def next_build(self) -> str:
        """What the next rebuild of her partition makes."""
        with self.wire() as wire:
            return next_build(self.build(wire, self.tag()).build)

    def records(self, *owners: str) -> dict[str, dict[str, Any]]:
        """Every record of these owners, opened."""
        found = dict[str, dict[str, Any]]()
        with self.wire() as wire:
            for owner in owners:
                keys = self.build(wire, self.tag(owner))
                answer = wire.call("HGETALL", keys.records(owner))
                cipher = cipher_of(wire, keys, owner)
                found[owner] = {
                    name.decode(): read_record(keys, owner, name.decode(), raw, cipher)
                    for name, raw in zip(answer[::2], answer[1::2], strict=True)
                }
        return found

    def answers(self, *owners: str) -> dict[str, Any]:
        """What each of these owners remembers, as a reader is told it."""
        found = dict[str, Any]()
        with self.opened() as store:
            for owner in owners:
                with store.views.view(owner) as (view, _):
                    found[owner] = [view.get(f"m{number}") for number in range(self.memories)], len(view)
        return found

    def events(self, owner: str) -> list[Stored]:
        """The owner's events, opened."""
        with self.live() as live:
            return [one for one in live.log.read(partition_of(owner, self.partitions), 0) if one.owner == owner]

    def neighbourhood(self) -> tuple[Any, ...]:
        """All that must be the same for everybody else."""
        return self.records(*NEIGHBOURS), self.answers(*NEIGHBOURS), {one: self.events(one) for one in NEIGHBOURS}

    def left_of(self, owner: str = ADA) -> list[str]:
        """Keys beside the log that are the owner's."""
        with self.server.client() as client:
            named = [key.decode() for key in client.scan_iter(count=1_000) if f":{owner}" in key.decode()]
            held = [
                f"{key.decode()} {owner}"
                for key in client.scan_iter("*:v*", count=1_000, _type="HASH")
                if client.hexists(key, owner)
            ]
        return sorted(named + held)

    def is_silent(self, owner: str = ADA) -> bool:
        """Whether nothing is appended under the owner's name, and nothing is read."""
        with self.opened() as store:
            with pytest.raises(OwnerErased), store.views.view(owner):
                pass
            before = store.log.head(partition_of(owner, self.partitions))
            try:
                receipts = store.log.append([mention("late", owner=owner, memory_id="m0")])
            except OwnerErased:
                receipts = []
            assert not [one for one in receipts if one.written]
            assert store.log.head(partition_of(owner, self.partitions)) == before
        return True
