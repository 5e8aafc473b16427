"""A sealed store in a data folder, where some memories and a turn of an owner lost their words, step by step and by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from consumers.erasing.steps import drop_from_builds, drop_vectors_of
from consumers.erasing.words import fence_names, read_log, wipe_entries
from consumers.fold.rebuild import rebuild_partition
from consumers.fold.worker import FoldWorker
from events.catalogue import MemoryCreated, SynonymDefined, TurnRecorded
from events.envelope import Event, from_micros, prepare
from events.redis.secrets import read_cipher
from events.redis.wire import WirePool
from events.sealing.cipher import ValueCipher
from ops.embedded.binary import RedisBinary
from ops.erasing.probes import Probes
from ops.erasing.words_again import erased_event
from ops.erasing.words_probes import gather_words
from projections.embedding.meaning import Embedded, content_key
from projections.redis.vectors import RedisVectors
from tests.integration.erasing.erased_by_hand import ID, MODEL, OTHER, OWNER, Store

ENGLISH = "the zebrafinch in the old pear tree sings before sunrise"
CHINESE = "我昨天在胡同口遇见了一只会唱歌的斑胸草雀，它住在第三棵槐树上"
CANOE = "I own a canoe, and it lies behind the boathouse"
SHORT = "我养猫"
STAYS = "on Sundays she rows to the island with her sister"
SPOKEN = "my grandmother's recipe has seven sorts of mushrooms in it"
GOES = {"m0": ENGLISH, "m1": CHINESE, "m2": CANOE, "m4": SHORT}
TEXTS = {**GOES, "m3": CANOE, "m5": STAYS}
SYNONYM = "pear tree singer"


class WordsStore(Store):
    """The store as it runs; the memories of GOES and the turn are erased of it."""

    def __init__(self, folder: Path, binary: RedisBinary, queue_url: str | None = None) -> None:
        super().__init__(folder, binary, queue_url)
        self.live._count = self.client.dbsize() * 1_000  # ids that no run before this one gave

    def say(self) -> None:
        """The owner says things, one of them twice; another owner says something too; the contents have vectors."""
        live = self.live
        for memory_id, text in sorted(TEXTS.items()):
            live.append(live.created(OWNER, memory_id, text))
        live.append(live.event(TurnRecorded(turn_id="t1", role="user", text=SPOKEN), OWNER))
        live.append(live.event(SynonymDefined(keyword="斑胸草雀", synonym=SYNONYM), OWNER))
        live.append(live.created(OTHER, "m0", "bob has said something else"))
        self.fold()
        self.embed(*TEXTS.values())

    def fold(self) -> None:
        """Fold all that stands in the log."""
        worker = FoldWorker(self.client, self.tags, "w")
        worker.drain({number: self.live.log.head(number) for number in range(2)}, 60.0)
        worker.hand_over()

    def embed(self, *texts: str) -> None:
        """Keep vectors of some contents of the owner's."""
        one = Embedded(np.ones(4, np.float32) / 2, np.eye(4, dtype=np.float32))
        names = {content_key(self.cipher.secret, text): one for text in texts}
        RedisVectors(WirePool(self.client), self.tags).put(OWNER, MODEL, names)

    @property
    def cipher(self) -> ValueCipher:
        """Of the owner's living key."""
        wire = self.wire()
        found = read_cipher(wire, self.keys, OWNER)
        wire.close()
        assert found is not None
        return found

    @property
    def going(self) -> list[int]:
        """Seqs of the entries that lose their words: of all that was said first, those of GOES, and the turn."""
        of_memories = [seq for memory_id, seq in zip(sorted(TEXTS), self.seqs(), strict=False) if memory_id in GOES]
        return [*of_memories, self.seqs()[len(TEXTS)]]

    def entry_of(self, memory_id: str) -> list[tuple[int, Event[MemoryCreated]]]:
        """Seqs and events that create a memory of the owner's, as far as they can be read."""
        wire = self.wire()
        found = [(one.seq, event) for one, event in read_log(wire, self.keys.tag, OWNER) if event is not None]
        wire.close()
        return [
            (seq, event)
            for seq, event in found
            if isinstance(event.data, MemoryCreated) and event.data.memory_id == memory_id
        ]

    def probes(self, most: int = 2_000) -> Probes:
        """Taken now."""
        wire = self.wire()
        try:
            return gather_words(wire, self.tags, OWNER, self.going, erasure_id=ID, made_at=1, most=most)
        finally:
            wire.close()

    def erase(self) -> None:
        """As `ops.erasing.words` does it."""
        wire, tag, cipher = self.wire(), self.keys.tag, self.cipher
        going = self.going
        fence_names(wire, tag, cipher.secret, GOES, [("t1", None)])
        at = from_micros(self.live.log.now())
        self.live.append(*[prepare(erased_event(OWNER, one, ID, at, "")) for one in GOES])
        wipe_entries(wire, tag, OWNER, cipher, going, ID)
        build = rebuild_partition(self.client, tag, holder="r", anew=True).new
        drop_from_builds(wire, tag, OWNER, but=build)
        drop_vectors_of(wire, tag, OWNER)
        wire.close()
        self.embed(CANOE, STAYS)
        self.rewrite()
