"""A sealed store in a data folder, one of whose owners was erased by hand, and what puts residue back into it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from consumers.fold.worker import FoldWorker
from consumers.sealing.leaving import rewrite_files
from events.catalogue import SynonymDefined, TurnRecorded
from events.partitions import LogKeys, partition_of
from events.redis.log import entries
from events.redis.wire import Wire, WirePool
from events.sealing.cipher import SALT_BYTES
from events.sealing.key_ring import KeyRing
from events.sealing.seals import tombstone
from ops.embedded.binary import RedisBinary
from ops.embedded.server import open_folder
from ops.erasing.probes import Probes, gather
from ops.erasing.report import Audit
from ops.erasing.residue import audit, places_of
from ops.settings import Settings
from projections.embedding.meaning import Embedded
from projections.embedding.vectors import VectorKeys
from projections.fold.builds import BuildKeys
from projections.redis.vectors import RedisVectors
from tests.integration.live import Live

OWNER, OTHER = "ada-lovelace", "bob"
ID = "0d4c0f6a-1111-4e4e-8e8e-000000000001"
ENGLISH = "the zebrafinch in the old pear tree sings before sunrise"
CHINESE = "我昨天在胡同口遇见了一只会唱歌的斑胸草雀，它住在第三棵槐树上"
SHARED = "everybody here says the weather is rather nice today"
MODEL = "words@1"
S = TypeVar("S", bound="Store")
NAMES = [bytes([number]) * 16 for number in range(65, 68)]


class Store:
    """The store as it runs, and how it is looked through."""

    def __init__(self, folder: Path, binary: RedisBinary, queue_url: str | None = None) -> None:
        self.folder, self.binary, self.master = folder, binary, KeyRing([bytes(range(32))])
        self.embedded = open_folder(folder, "command", binary=binary)
        self.live = Live(f"unix://{self.embedded.socket_path}", 2, master=self.master)
        self.client: Any = self.live.client
        self.tags = self.live.identity.tags
        self.keys = LogKeys(self.tags[partition_of(OWNER, 2)])
        self.settings = Settings(data=folder, queue_url=queue_url, redis_server=str(binary.path))

    def wire(self) -> Wire:
        """A connection."""
        return Wire(self.client)

    @property
    def build(self) -> BuildKeys:
        """The live build of the owner's partition."""
        return BuildKeys(self.keys.tag, self.client.hget(self.keys.meta, "live").decode())

    def say(self) -> None:
        """Two owners say things, and all is folded; the one has vectors."""
        live = self.live
        for number in range(4):
            live.append(live.created(OWNER, f"m{number}", f"{ENGLISH}, {number} times"))
            live.append(live.created(OTHER, f"m{number}", f"bob has said something else, number {number}"))
        live.append(live.event(TurnRecorded(turn_id="t1", role="user", text=CHINESE), OWNER))
        live.append(live.event(TurnRecorded(turn_id="t2", role="user", text=SHARED), OWNER))
        live.append(live.event(SynonymDefined(keyword="槐树上的鸟儿", synonym="pear tree singer"), OWNER))
        others = [f"other-{number}" for number in range(20)]
        for other in others:
            live.append(live.event(TurnRecorded(turn_id="t", role="user", text=SHARED), other))
        worker = FoldWorker(self.client, self.tags, "w")
        worker.drain({number: live.log.head(number) for number in range(2)}, 60.0)
        worker.hand_over()
        some = {name: Embedded(np.ones(4, np.float32) / 2, np.eye(4, dtype=np.float32)) for name in NAMES}
        RedisVectors(WirePool(self.client), self.tags).put(OWNER, MODEL, some)

    def probes(self) -> Probes:
        """Taken now."""
        wire = self.wire()
        try:
            return gather(wire, self.tags, OWNER, erasure_id=ID, made_at=1)
        finally:
            wire.close()

    def seqs(self) -> list[int]:
        """Of the owner's entries."""
        wire = self.wire()
        answer = entries(wire.call("XRANGE", self.keys.stream, "-", "+"))
        wire.close()
        return [one.seq for one in answer if one.owner == OWNER]

    def erase(self) -> None:
        """By hand, as the founder's eraser leaves it."""
        client, keys, build = self.client, self.keys, self.build
        for seq in self.seqs():
            client.setrange(keys.salts, SALT_BYTES * seq, bytes(SALT_BYTES))
        client.hset(keys.secrets, OWNER, tombstone(ID.encode()))
        vectors = VectorKeys(keys.tag)
        client.delete(*build.of_owner(OWNER), vectors.wholes(MODEL, OWNER), vectors.pieces(MODEL, OWNER))
        for name in (build.owners, build.quarantine, keys.deletions, vectors.changes(MODEL), vectors.seen(MODEL)):
            client.hdel(name, OWNER)
        self.rewrite()

    def rewrite(self) -> None:
        """Have Redis write its files anew."""
        wire = self.wire()
        rewrite_files(wire)
        wire.close()

    def audit(self, probes: Probes, **places: Any) -> Audit:
        """Look through it."""
        return audit(probes, places_of(self.settings, self.client, **places))

    def close(self) -> None:
        """End it."""
        self.live.close()
        self.embedded.close()


def made(folder: Path, binary: RedisBinary, kind: type[Store] = Store) -> Probes:
    """A store in which the owner, or what a `kind` of store erases, was erased, in a folder that nobody serves; and the probes that
    were taken before.

    Beside it lies a copy of before, `<folder>.before`.
    """
    store = kind(folder, binary)
    try:
        store.say()
        probes = store.probes()
        store.rewrite()
        shutil.copytree(folder, folder.with_name(f"{folder.name}.before"), ignore=shutil.ignore_patterns("*.sock*"))
        store.erase()
        return probes
    finally:
        store.close()


@contextmanager
def served(folder: Path, copy: Path, binary: RedisBinary, kind: type[S]) -> Iterator[S]:
    """A copy of such a store, served."""
    shutil.copytree(folder, copy)
    store = kind(copy, binary)
    try:
        yield store
    finally:
        store.close()
