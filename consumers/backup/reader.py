"""Reading a store for a backup while it is used, by a partition's own keys alone.

A log only grows, so the entries up to a head that was read are the same whatever is appended meanwhile. Since when deletions are
known is read before the heads, so that no deletion is told of that came after; secrets after the entries, for whoever has an entry
has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engramlog_server.consumers.backup.proof import FINGERPRINT, HeldEntry, held_entries
from engramlog_server.consumers.backup.rows import BackupRow, RowKind
from engramlog_server.events.encryption.key_store import KEYS_FIELD
from engramlog_server.events.entry import dedupe_field
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.partitions import (
    ACCEPTED_KEY,
    KEYS_FROM,
    MODELS_KEY,
    RESTORED,
    STORE_KEY,
    LogKeys,
    dedupe_bucket,
)
from engramlog_server.events.redis.gap import refuse_gap
from engramlog_server.events.redis.scan import elements, pairs
from engramlog_server.events.redis.wire import Argument, Wire
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.create import BACKED_UP
from engramlog_server.projections.redis.store import read_checkpoint
from engramlog_server.projections.redis.usage import day_key

PAGE = 500
"""Entries that one answer holds."""
NOT_KEPT = (RESTORED.encode(), KEYS_FROM.encode(), BACKED_UP.encode(), KEYS_FIELD.encode())
"""Fields of the store that are about this one, and not about what is restored from its backup."""


class PartitionHead(NamedTuple):
    """Up to where a partition is read, and a link of its chain that was folded."""

    tag: str
    head: int
    folded: int
    """A seq up to the head at which the chain is known; 0 where nothing was folded."""
    chain: bytes


def heads_now(wire: Wire, tags: Sequence[str]) -> list[PartitionHead]:
    """Every partition's head: the moment of a backup. What was folded is read first. Raises LogGap, StoreError."""
    lives = wire.answers([["HGET", LogKeys(tag).meta, "live"] for tag in tags])
    folded = [
        read_checkpoint(wire, BuildKeys(tag, (live or b"").decode())) for tag, live in zip(tags, lives, strict=True)
    ]
    for tag in tags:
        refuse_gap(wire, tag)
    heads = wire.answers([["HGET", LogKeys(tag).meta, "head"] for tag in tags])
    return [
        PartitionHead(tag, int(head or 0), one.seq, one.head)
        for tag, head, one in zip(tags, heads, folded, strict=True)
    ]


def read_entries(wire: Wire, tag: str, head: int) -> Iterator[tuple[list[HeldEntry], list[Stored]]]:
    """The entries of a partition's log up to a head, in pages, with what dedupe knows them by. Raises LogGap, DamagedState."""
    keys, after = LogKeys(tag), 0
    while after < head:
        answer = wire.call("XRANGE", keys.stream, f"{after + 1}-0", f"{head}-0", "COUNT", PAGE)
        found = held_entries(answer, after, tag)
        fields = [dedupe_field(one.owner, one.raw_id) for one, _ in found]
        asked: list[list[Argument]] = [["HGET", keys.dedupe_of(dedupe_bucket(one)), one] for one in fields]
        page = list[HeldEntry]()
        for (one, held), value in zip(found, wire.answers(asked), strict=True):
            if value is None or value[FINGERPRINT:] != b"%d" % one.seq:
                raise DamagedState(
                    f"the entry at seq {one.seq} of partition {{{tag}}} has no line of its own in the table of dedupe: see"
                    " `engramlog verify`; a backup of a damaged store would be a damaged one",
                    partition=tag,
                    seq=one.seq,
                )
            page.append(HeldEntry(value[:FINGERPRINT], held))
        yield page, [one for one, _ in found]
        after += len(page)


def read_owners(wire: Wire, tag: str) -> Iterator[BackupRow]:
    """Owners' lines of a partition, and what erasures left there. Of a sealed store no line opens anything. Raises StoreError."""
    keys = LogKeys(tag)
    for owner, line in pairs(wire, keys.secrets):
        yield BackupRow(RowKind.SECRET, [owner, line])
    for owner, line in pairs(wire, keys.readmitted):
        yield BackupRow(RowKind.READMITTED, [owner, line])
    for one in elements(wire, keys.gone):
        yield BackupRow(RowKind.GONE, [one])


def read_store(wire: Wire, tags: Sequence[str], days: Sequence[str]) -> Iterator[BackupRow]:
    """What is of no partition, and since when deletions are known. `days`: whose uses of models are kept. Raises StoreError."""
    told = wire.call("HGETALL", STORE_KEY)
    for field, value in zip(told[::2], told[1::2], strict=True):
        if field not in NOT_KEPT:
            yield BackupRow(RowKind.STORE, [field, value])
    for number, tag in enumerate(tags):
        for owner, value in pairs(wire, LogKeys(tag).deletions):
            yield BackupRow(RowKind.DELETION, [b"%d" % number, owner, value])
    for field, value in pairs(wire, ACCEPTED_KEY):
        yield BackupRow(RowKind.ACCEPTED, [field, value])
    for day in ("", *days):
        for field, value in pairs(wire, day_key(day) if day else MODELS_KEY):
            yield BackupRow(RowKind.MODELS, [day.encode(), field, value])
