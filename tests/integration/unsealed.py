"""A store that lies open in a real Redis, and sealings of it that can be killed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.envelope import Stored
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import StoreClient, open_wire
from engramlog_server.ops.encryption import carry_out
from engramlog_server.ops.keys.master import KeyFile, keys_of, make_key_file
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store_replacement import OldStore
from engramlog_server.projections.redis.builds import BuildKeys, cipher_of
from engramlog_server.projections.redis.create import known_identity, read_identity
from engramlog_server.projections.redis.store import read_checkpoint, read_record
from tests.given.clusters.cluster import GivenCluster
from tests.given.dumped import dump
from tests.integration.live import Live
from tests.servers import RedisServer

PARTITIONS = 3
OWNERS = ("ada", "lin-yue", "团队", "bob")
WORD = "zebrafinch"
"""In every memory's words, and nowhere else."""
BRIEF_MS = 50


class _Killed(BaseException):
    """Ends a sealing where it stands: nothing is handed over."""


class Unsealed:
    """A store, of three partitions unless told, that lies open, with some memories folded, and the key to seal it under."""

    def __init__(
        self,
        server: RedisServer | GivenCluster,
        folder: Path,
        memories: int = 5,
        partitions: int = PARTITIONS,
        owners: Sequence[str] = OWNERS,
    ) -> None:
        self.server, self.partitions, self.owners = server, partitions, owners
        self.key = folder / "key"
        make_key_file(self.key)
        live = Live(server.url, partitions)
        for number in range(memories):
            for owner in owners:
                live.append(live.created(owner, f"m{number}", f"the {WORD} {number} of {owner} sings"))
                live.append(live.mentioned(owner, f"m{number}"))
        worker = FoldWorker(live.client, live.identity.tags, "w")
        worker.drain({number: live.log.head(number) for number in range(partitions)}, 60.0)
        worker.hand_over()
        self.tags = live.identity.tags
        live.close()
        self.settings = Settings(redis_url=server.url, data=folder / "data", sealed_by=str(self.key))
        self.client = self.connect()
        self.client.delete("engramlog:workers")

    def connect(self) -> StoreClient:
        """A client that has the key."""
        return connect(self.server.url, timeout=10.0, master=KeyFile(self.key), keys=keys_of(self.settings))

    @property
    def store(self) -> OldStore:
        """As `old_store` gives it."""
        client = connect(self.server.url, timeout=10.0)
        wire = open_wire(client)
        identity = read_identity(wire)
        wire.close()
        assert identity is not None
        return OldStore(client, identity, None, self.settings)

    def seal(self, **options: Any) -> dict[str, Any]:
        """Seal it; the test's own connections are nobody's."""
        store = self.store
        try:
            return carry_out(store, **{"alone": True, "seconds": 0.0, "lease_ms": BRIEF_MS} | options)
        finally:
            store.client.close()

    def kill(self, point: str, passes: int = 1) -> None:
        """Begin, and end as SIGKILL would at the n-th pass of a point."""
        left = passes

        def probe(at: str) -> None:
            nonlocal left
            left -= at == point
            if not left:
                raise _Killed

        with pytest.raises(_Killed):
            self.seal(probe=probe)

    def words(self) -> list[str]:
        """Keys under which the word lies open."""
        return [key for key, value in dump(self.client).items() if WORD in f"{key}{value}"]

    def begin(self) -> None:
        """The client opens what the store has sealed."""
        wire = open_wire(self.client)
        known_identity(wire)
        wire.close()

    def log(self) -> RedisEventLog:
        """The log as a producer with the key has it."""
        self.begin()
        return RedisEventLog(self.client, self.tags)

    def told(self) -> dict[str, Any]:
        """All that must be the same afterwards: events, chains, digests, records."""
        log, wire = self.log(), open_wire(self.client)
        found: dict[str, Any] = {}
        for number, tag in enumerate(self.tags):
            build = (wire.call("HGET", f"{{{tag}}}:meta", "live") or b"").decode()
            folded = read_checkpoint(wire, BuildKeys(tag, build))
            found[tag] = (log.read(number, 0), folded.seq, folded.head, folded.digest, folded.memories)
        for owner in self.owners:
            tag = self.tags[partition_of(owner, self.partitions)]
            keys = BuildKeys(tag, (wire.call("HGET", f"{{{tag}}}:meta", "live") or b"").decode())
            raws, cipher = self.client.hgetall(keys.records(owner)), cipher_of(wire, keys, owner)
            found[owner] = {name: read_record(keys, owner, name.decode(), raw, cipher) for name, raw in raws.items()}
        log.close()
        wire.close()
        return found

    def events(self) -> list[Stored]:
        """Every event, opened."""
        log = self.log()
        found = [one for number in range(self.partitions) for one in log.read(number, 0)]
        log.close()
        return found
