"""What a log says beside its folding: the chain at every place somebody wrote down, dedupe, heads, and itself. Pure.

Dedupe is compared by one number a bucket (the sum of hashes of its entries, as the digest of records is), so that millions of
ids need no memory; only buckets that differ are read again, id by id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b

import msgspec

from events.catalogue import SIDE_EVENTS
from events.envelope import Stored
from events.partitions import DEDUPE_BUCKETS, dedupe_bucket, partition_of
from events.unreadable import UNREADABLE
from projections.changelog import FIRST_LINK, event_link

Differs = Callable[..., None]
_MODULUS = 1 << 128


class _Said(msgspec.Struct, frozen=True):
    """What a body says about itself."""

    type: str
    schema_version: int
    event_id: str
    owner: str


_SAID = msgspec.json.Decoder(_Said)


def dedupe_value(one: Stored) -> bytes:
    """What the dedupe bucket holds for an entry."""
    return blake2b(one.body, digest_size=8).digest() + b"%d" % one.seq


def share(raw_id: bytes, value: bytes) -> int:
    """An entry's part of its bucket's number."""
    return int.from_bytes(blake2b(len(raw_id).to_bytes(4, "big") + raw_id + value, digest_size=16).digest(), "big")


class Ledger:
    """What must stand beside a partition's log, from its entries in order."""

    def __init__(self, partition: int, partitions: int, wanted: Iterable[int] = ()) -> None:
        self.seq = 0
        self.chain = FIRST_LINK
        self.chains: dict[int, bytes] = {}
        """The chain at those of the seqs wanted that were passed."""
        self.buckets = [0] * DEDUPE_BUCKETS
        self.heads: dict[str, int] = {}
        self._wanted = frozenset(wanted)
        self._partition, self._partitions = partition, partitions

    def feed(self, batch: Iterable[Stored], differs: Differs) -> None:
        """Take entries that follow on the last; what contradicts itself is told."""
        for one in batch:
            self.chain = event_link(self.chain, one.seq, one.body)
            self.seq = one.seq
            if one.seq in self._wanted:
                self.chains[one.seq] = self.chain
            bucket = dedupe_bucket(one.raw_id)
            self.buckets[bucket] = (self.buckets[bucket] + share(one.raw_id, dedupe_value(one))) % _MODULUS
            if moves_head(one):
                self.heads[one.owner] = one.seq
            if problem := self._contradicts(one):
                differs("an entry of the log that contradicts its own body", position=one.seq, fields=problem)

    def _contradicts(self, one: Stored) -> list[str]:
        """The entry's fields that its body does not bear out; nothing of a body that cannot be read."""
        wrong = [] if len(one.raw_id) == 16 else ["i"]
        if partition_of(one.owner, self._partitions) != self._partition:
            wrong.append("o")
        try:
            said = _SAID.decode(one.body)
        except UNREADABLE:
            return wrong
        if one.kind != f"{said.type}.{said.schema_version}":
            wrong.append("t")
        if one.raw_id.hex() != said.event_id.replace("-", ""):
            wrong.append("i")
        if one.owner != said.owner:
            wrong.append("o")
        return sorted(set(wrong))


def moves_head(one: Stored) -> bool:
    """Whether `expected_head` counts this entry."""
    return one.kind.partition(".")[0] not in SIDE_EVENTS


def bucket_number(held: Mapping[bytes, bytes]) -> int:
    """The number of a bucket, from what it holds."""
    return sum(share(raw_id, value) for raw_id, value in held.items()) % _MODULUS
