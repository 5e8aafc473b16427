"""How owners are spread over partitions, and what every key of a store is called.

The partition of an owner is CRC16(owner) mod P. Each partition has a hash tag chosen so that the tags' cluster slots lie
evenly spread, and every key of a partition carries its tag: one slot, one script, Redis Cluster unchanged.

Some events are about the store itself, and belong to owners of its own. Those about keys and grants are numbered from 1 without a
gap, and the number makes the event's id. So a reader that asks for the next number gets all of them, and of two writers at once
one is refused.
"""

from __future__ import annotations

from binascii import crc_hqx
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from typing import Generic, Protocol, TypeVar
from uuid import UUID, uuid5

SLOTS = 16_384
DEFAULT_PARTITIONS = 16
MAX_PARTITIONS = 1_024
DEDUPE_BUCKETS = 512
"""Dedupe hashes a partition. A bucket stays a compact listpack up to 512 ids: 4.2 million events at 16 partitions."""

STORE_KEY = "engramlog:store"
FORMAT = 2
"""The format of entries that this release reads and writes."""
SEALED_META = "sealed"
"""The field of a partition's meta by which it takes no body that lies open: `moving` while it is being sealed, when it takes none
at all, and `3` in a sealed store (`1` and `2` are layouts that no release reads). It holds against
a process that takes the store for one that lies open."""
MOVING, MOVED = "moving", "3"
RESTORED = "restored"
"""The field of a partition's meta by which it takes nothing new: the backup that it was restored from, until somebody takes the
store over. The field of the store of the same name tells what it was restored from, for ever."""
FENCED_META = "fenced:"
"""What fields of a partition's meta on a Cluster begin with that tell for which list of erasures it was looked through."""
KEYS_FROM = "keys_from"
"""The field of the store that tells from which save its keys were brought back last; nothing where they never were."""
WORKERS_KEY = "engramlog:workers"
PASSING = "passing"
"""Fact of a worker that only folds what one process appended: nobody relies on it."""
ALARMS_KEY = "engramlog:alarms"
ACCEPTED_KEY = "engramlog:accepted"
"""Hash: position and time -> why a log that did not meet a kept head was accepted."""
MODELS_KEY = "engramlog:models"
"""Hash: what asking models took since counting began; `engramlog:models:<day>` the same of one day, kept for 400 days."""
REBUILD_KEY = "engramlog:rebuild"
"""Hash: the rebuild that is being done, or was killed: its partitions, and those that are done."""
STORE_KEYS = (STORE_KEY, WORKERS_KEY, ALARMS_KEY, ACCEPTED_KEY, MODELS_KEY, REBUILD_KEY)
"""Every key of a store that belongs to no partition, but those of a day. All are hashes."""


def crc16(text: str) -> int:
    """CRC16 (XMODEM) of the UTF-8 bytes: what Redis Cluster hashes keys with."""
    return crc_hqx(text.encode(), 0)


@lru_cache(maxsize=8_192)
def partition_of(owner: str, partitions: int) -> int:
    """The partition, 0 to partitions - 1, that holds all events of an owner."""
    return crc16(owner) % partitions


def ranges(numbers: Iterable[int]) -> str:
    """Numbers in as few characters as they take: "0-5, 9" for 9 and 0 to 5, in any order and as often as they come."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def spread_tags(partitions: int) -> tuple[str, ...]:
    """One hash tag a partition, the i-th in the i-th equal share of the cluster's slots."""
    tags: dict[int, str] = {}
    for number in count():
        tag = f"e{number}"
        share = crc16(tag) % SLOTS * partitions // SLOTS
        tags.setdefault(share, tag)
        if len(tags) == partitions:
            return tuple(tags[i] for i in range(partitions))
    raise AssertionError("count() never ends")


def dedupe_bucket(field: bytes) -> int:
    """The bucket, 0 to 511, of a dedupe field (`events.entry.dedupe_field`), by its last two bytes."""
    return (field[-2] << 8 | field[-1]) % DEDUPE_BUCKETS


T = TypeVar("T")


class _Prefixed(Protocol):
    @property
    def prefix(self) -> str: ...


class Declared:
    """A key, declared where its name is made, with its type in Redis. `verify` refuses every key that nothing declares."""

    def __init__(self, name: str, kind: str = "hash") -> None:
        self.name, self.kind = name, kind


class Key(Declared):
    """One of each partition, or of each build."""

    def __get__(self, keys: _Prefixed, _: type) -> str:
        return keys.prefix + self.name


class SealedKey(Key):
    """One that only a sealed store has."""


class KeyOf(Declared, Generic[T]):
    """One of each owner, or of each bucket."""

    def __get__(self, keys: _Prefixed, _: type) -> Callable[[T], str]:
        return lambda of: f"{keys.prefix}{self.name}:{of}"


def declared(keys: type, kind: type[Declared]) -> dict[bytes, bytes]:
    """Name and type in Redis of each key of this kind that a class declares."""
    return {one.name.encode(): one.kind.encode() for one in vars(keys).values() if type(one) is kind}


@dataclass(frozen=True, slots=True)
class LogKeys:
    """Keys of one partition's log."""

    tag: str

    @property
    def prefix(self) -> str:
        """What each begins with."""
        return f"{{{self.tag}}}:"

    meta = Key("meta")
    """Hash: `head` (newest seq), `rec` (when that was recorded, microseconds), `live` (name of the live build), `old:<build>`
    (when it was replaced, ms), `gone` (how many there are in `gone`), `proved` (the head when replicas were
    last asked for what was known already); in a sealed store SEALED_META, and on a Cluster
    FENCED_META with a kind and a machine; in a restored one RESTORED, until somebody takes it over."""
    stream = Key("ev", "stream")
    """The stream; entry ids are `<seq>-0` without a gap."""
    heads = Key("heads")
    """Hash: owner -> seq of its last event that moves its head."""
    control = Key("ctl")
    """Hash of operators' requests to whoever holds the lease."""
    deletions = Key("del")
    """Hash: owner -> since when the sweep knows of each deletion."""
    secrets = Key("keys")
    """Hash: owner -> 32 random bytes; in a sealed store these wrapped under the master key."""
    readmitted = SealedKey("readm")
    """Hash: owner who was erased and may be spoken of again -> seq up to which nothing of it can be read, and the erasure."""
    gone = SealedKey("gone", "set")
    """Set: keyed digests of ids of memories and turns that were erased: nothing is said under them again."""
    unjudged = Key("raw", "zset")
    """Sorted set: `first-last` of seqs of events appended raw, until a job has judged the memories that they make."""
    noted = Key("rawn", "stream")
    """Stream of one entry, replaced after each change of `unjudged` by an append: who reads the stream wakes."""
    levels = Key("lvl")
    """Hash: how far entries were read again under newer rules of sensitivity."""
    dedupe_of = KeyOf[int]("ids")
    """Hash of a bucket, 0 to 511: dedupe field -> 8-byte keyed fingerprint and decimal seq."""


def position_text(partition: int, seq: int) -> str:
    """A position as people and JSON see it: `p:seq`."""
    return f"{partition}:{seq}"


def parse_position(text: str) -> tuple[int, int]:
    """(partition, seq) of `p:seq`; raises ValueError for anything else."""
    partition, colon, seq = text.partition(":")
    if not (colon and partition.isascii() and seq.isascii() and partition.isdigit() and seq.isdigit()):
        raise ValueError(f"a position is written partition:seq, e.g. 3:128; got {text!r}")
    return int(partition), int(seq)


ACCESS = ":access"
"""Under whom keys and grants stand."""
READS = ":reads"
"""Under whom it stands who looked at what."""
ERASURES = ":erasures"
"""Under whom it stands what was erased for good, and why."""
SYSTEM_TYPES: Mapping[str, str] = {
    "KeyIssued": ACCESS,
    "KeyRevoked": ACCESS,
    "GrantsSet": ACCESS,
    "ReadRecorded": READS,
    "OwnerErasure": ERASURES,
    "WordsErasure": ERASURES,
}
"""Each type that is said of the store itself, and under whom."""
SYSTEM_OWNERS = frozenset(SYSTEM_TYPES.values())
LABEL_BYTES = 32
_SPACE = UUID("6b0d3f3e-64a5-5d0a-9d53-6b1f0a3f7c11")


def label_of(store_id: str, owner: str) -> str:
    """What an owner is called where its name must not stand: 64 hexadecimal digits. Who knows the name knows it again."""
    return blake2b(
        owner.encode("utf-8", "surrogatepass"), digest_size=LABEL_BYTES, key=store_id.encode()[:64]
    ).hexdigest()


def access_id(number: int) -> str:
    """The id of the event of access with this number: a UUID of version 5."""
    return str(uuid5(_SPACE, f"{ACCESS} {number}"))
