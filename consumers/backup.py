"""Backups: a partition's log read while the store is used, proved as its entries pass, and written into an empty store.

A row of a backup's file is 4 bytes of length, big-endian, a byte for its kind, and a MessagePack array of byte strings. Files are
read in bounded memory whoever wrote them.

A log only grows, so the entries up to a head that was read stay the same whatever is appended meanwhile. The times from which
deletions are known are read before the heads, so that they name no later deletion. Secrets are read after the entries, because
every owner of an entry has one. Of each entry is proved that none before it is missing, that its body is the one that was
committed to, and the chain.

A restore writes a page of a partition's log by one script, with dedupe, owners' heads and the log's head. So a partition is whole
whenever somebody looks, and says how far a killed restore came. The backup's id in the partition's meta refuses every other
append, and every other backup.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import IntEnum
from hashlib import sha256
from struct import Struct
from typing import Any, NamedTuple, Protocol

import msgspec

from engramlog_server.events.catalogue import SIDE_EVENTS
from engramlog_server.events.cipher import BODY_MARK
from engramlog_server.events.envelope import Stored, commitment, dedupe_field
from engramlog_server.events.errors import DamagedState, LogGap, StoreMismatch
from engramlog_server.events.keys import KEYS_FIELD
from engramlog_server.events.partitions import (
    ACCEPTED_KEY,
    DEDUPE_BUCKETS,
    FORMAT,
    KEYS_FROM,
    MODELS_KEY,
    MOVED,
    RESTORED,
    SEALED_META,
    STORE_KEY,
    LogKeys,
    dedupe_bucket,
)
from engramlog_server.events.redis.durability import refuse_gap, refuse_holes
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.wire import Argument, Script, Wire, elements, pairs
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.fold.changelog import FIRST_LINK, event_link
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.create import BACKED_UP, RESTORING
from engramlog_server.projections.redis.store import read_checkpoint
from engramlog_server.projections.redis.usage import KEPT_DAYS, day_key

_MOST_ROW = 64 << 20
"""Bytes of a row. An entry is far smaller; what the sweep knows of one owner's deletions may be long."""
CHUNK = 1 << 20
"""Bytes that are read at once."""
_HEAD = Struct(">IB")
_PARTS = msgspec.msgpack.Decoder(list[bytes])
_ENCODE = msgspec.msgpack.Encoder().encode


class RowKind(IntEnum):
    """What a row is."""

    ABOUT = 0
    """Of which backup, store and part a file is: the first row of each."""
    ENTRY = 1
    """Fingerprint of dedupe, then fields and values in turn, as Redis has them."""
    SECRET = 3
    """An owner, and its line: its secret, in a sealed store the name of its key, or a tombstone."""
    DELETION = 4
    """Number of the partition, an owner, since when each of its deletions is known."""
    STORE = 5
    """A field of the store, and its value."""
    ACCEPTED = 6
    """Position and time, and why a log that did not meet a kept head was accepted."""
    MODELS = 7
    """A day or nothing, a field, a count: what asking models took."""
    READMITTED = 8
    """An owner who was erased and readmitted, up to which seq and by which erasure."""
    GONE = 9
    """A keyed digest of an id that was erased."""


class BackupRow(NamedTuple):
    """One row."""

    kind: RowKind
    parts: list[bytes]


class DamagedRows(Exception):
    """Rows cannot be read; a sentence without its subject."""


class Bytes(Protocol):
    """What rows are read of."""

    def read(self, size: int, /) -> bytes:
        """So many bytes at most; fewer only at the end."""


def frame(kind: RowKind, parts: Sequence[bytes]) -> bytes:
    """A row as bytes."""
    raw = _ENCODE(parts)
    return _HEAD.pack(len(raw), kind) + raw


def rows(file: Bytes) -> Iterator[tuple[BackupRow, bytes]]:
    """Each row, and its bytes, until the end. Raises DamagedRows, and what reading raises."""
    held, at = b"", 0
    while True:
        if len(held) - at < _HEAD.size:
            held, at = held[at:] + file.read(CHUNK), 0
            if not held:
                return
            if len(held) < _HEAD.size:
                raise DamagedRows("breaks off within a row")
        size, number = _HEAD.unpack_from(held, at)
        if size > _MOST_ROW:
            raise DamagedRows(f"has a row of {size:,} bytes; {_MOST_ROW:,} are allowed")
        end = at + _HEAD.size + size
        if end > len(held):
            held, end, at = held[at:] + file.read(max(end - len(held), CHUNK)), end - at, 0
            if end > len(held):
                raise DamagedRows("breaks off within a row")
        raw, at = held[at:end], end
        try:
            yield BackupRow(RowKind(number), _PARTS.decode(raw[_HEAD.size :])), raw
        except (ValueError, *UNREADABLE):
            raise DamagedRows("has a row that no backup of this format has") from None


_FINGERPRINT = 8
"""Bytes of a fingerprint."""
_COMMITTED = 4


class HeldEntry(NamedTuple):
    """An entry as a backup holds it."""

    fingerprint: bytes
    held: list[bytes]
    """Fields and values in turn."""

    @property
    def row(self) -> bytes:
        """As bytes of a file."""
        return frame(RowKind.ENTRY, [self.fingerprint, *self.held])


class LogProof:
    """What is proved of a partition's log as its entries pass, from the first on."""

    def __init__(self, tag: str, wanted: Mapping[int, bytes] | None = None, noted: Collection[int] = ()) -> None:
        """`wanted`: links of the chain that must stand at some seqs; `noted`: seqs whose links are to be told."""
        self.tag, self._wanted, self._noted = tag, wanted or {}, frozenset(noted)
        self.links = dict[int, bytes]()
        """Links of the chain at the seqs that are noted, as far as it passed."""
        self.seq, self.chain, self.newest = 0, FIRST_LINK, b""
        """Of the newest entry that passed: its place, the chain there, its event's id."""
        self.rows, self._digest = b"", sha256()
        """The bytes of the rows that passed last."""

    @property
    def digest(self) -> str:
        """SHA-256 over the bytes of all rows that passed."""
        return self._digest.hexdigest()

    def take(self, some: Sequence[HeldEntry], stored: list[Stored] | None = None) -> list[Stored]:
        """Entries that follow on those before; `stored`: what they are, where that is known. Raises LogGap, DamagedState."""
        if not some:
            return []
        if stored is None:
            stored = entries([(b"%d-0" % seq, one.held) for seq, one in enumerate(some, self.seq + 1)], self.tag)
        for one, entry in zip(some, stored, strict=True):
            self._refuse_changed(one, entry)
            self.chain = event_link(self.chain, entry)
            if entry.seq in self._noted:
                self.links[entry.seq] = self.chain
            if self._wanted.get(entry.seq, self.chain) != self.chain:
                raise DamagedState(
                    f"partition {{{self.tag}}}: the chain at seq {entry.seq} is another than was folded; see `engramlog verify`",
                    partition=self.tag,
                    seq=entry.seq,
                )
        self.rows = b"".join([one.row for one in some])
        self._digest.update(self.rows)
        self.seq, self.newest = stored[-1].seq, stored[-1].raw_id
        return stored

    def _refuse_changed(self, one: HeldEntry, entry: Stored) -> None:
        wrong = None
        if len(one.fingerprint) != _FINGERPRINT:
            wrong = "has no line in the table of dedupe"
        elif entry.salt and commitment(entry.salt, entry.body) != entry.beside[_COMMITTED]:
            wrong = "has another body than the one that was committed to"
        elif entry.body[:1] == BODY_MARK and entry.salt:
            wrong = "is sealed, and holds the salt of its commitment"
        if wrong is not None:
            raise DamagedState(
                f"the entry at seq {entry.seq} of partition {{{self.tag}}} {wrong}: see `engramlog verify`",
                partition=self.tag,
                seq=entry.seq,
            )


def _held_entries(
    answer: Sequence[tuple[bytes, list[bytes]]], after: int, tag: str
) -> list[tuple[Stored, list[bytes]]]:
    """Entries as Redis sends them, with their fields and values as they are. Raises LogGap where they do not follow on `after`."""
    stored = entries(list(answer), tag)
    if not stored:
        raise LogGap(f"partition {{{tag}}}: its log ends at {after}, before the head that it reported", partition=tag)
    refuse_holes(stored, after, tag)
    return list(zip(stored, [held for _, held in answer], strict=True))


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
        found = _held_entries(answer, after, tag)
        fields = [dedupe_field(one.owner, one.raw_id) for one, _ in found]
        asked: list[list[Argument]] = [["HGET", keys.dedupe_of(dedupe_bucket(one)), one] for one in fields]
        page = list[HeldEntry]()
        for (one, held), value in zip(found, wire.answers(asked), strict=True):
            if value is None or value[_FINGERPRINT:] != b"%d" % one.seq:
                raise DamagedState(
                    f"the entry at seq {one.seq} of partition {{{tag}}} has no line of its own in the table of dedupe: see"
                    " `engramlog verify`; a backup of a damaged store would be a damaged one",
                    partition=tag,
                    seq=one.seq,
                )
            page.append(HeldEntry(value[:_FINGERPRINT], held))
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


AT_ONCE = 500
_PUT_BYTES = 4 << 20
"""Bytes of a table that one command writes, and one value more at most."""
_RECORDED = 0

BEGIN = Script(
    "begin a restore",
    """
-- KEYS: engramlog:store. ARGV: format, field of what it is restored from, that; then field, value, ...
-- Answer: ok, or the store's id, format and what it was restored from.
local call = redis.call
if call('EXISTS', KEYS[1]) == 1 then
  local held = call('HMGET', KEYS[1], 'store_id', 'format', ARGV[2])
  return {held[1] or '', held[2] or '', held[3] or ''}
end
call('HSET', KEYS[1], unpack(ARGV, 4))
call('HSET', KEYS[1], 'format', ARGV[1], ARGV[2], ARGV[3])
return {'ok'}
""",
)
_LAY = Script(
    "lay entries",
    """
-- KEYS: meta, stream, heads, then dedupe buckets. ARGV: field of the backup's id, the id, seq before, time of the newest entry or
-- nothing, owners m, m x (owner, seq), then of each entry: number of its bucket's key, dedupe field, value, how many fields and
-- values it has, and these. A page is written whole or not, and by whoever knows how far the log is. Answer: how far it is.
local call = redis.call
local seq, m = tonumber(ARGV[3]), tonumber(ARGV[5])
if call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return -1 end
local head = tonumber(call('HGET', KEYS[1], 'head') or '0')
if head ~= seq or call('XLEN', KEYS[2]) ~= seq then return head end
local at = 6 + 2 * m
while at <= #ARGV do
  local bucket, many = tonumber(ARGV[at]), tonumber(ARGV[at + 3])
  seq = seq + 1
  call('XADD', KEYS[2], seq .. '-0', unpack(ARGV, at + 4, at + 3 + many))
  call('HSET', KEYS[bucket], ARGV[at + 1], ARGV[at + 2])
  at = at + 4 + many
end
for i = 6, 4 + 2 * m, 2 do call('HSET', KEYS[3], ARGV[i], ARGV[i + 1]) end
call('HSET', KEYS[1], 'head', seq)
if ARGV[4] ~= '' then call('HSET', KEYS[1], 'rec', ARGV[4]) end
return seq
""",
)
FINISH = Script(
    "a restore's log is whole",
    """
-- KEYS: engramlog:store. ARGV: format that it must have, format to have, then fields and values
local held = redis.call('HGET', KEYS[1], 'format')
if held == ARGV[2] then return 'ok' end
if held ~= ARGV[1] then return held or 'none' end
redis.call('HSET', KEYS[1], 'format', unpack(ARGV, 2))
return 'ok'
""",
)


def what_lies_there(wire: Wire, tags: Sequence[str]) -> list[str]:
    """Partitions' keys that stand where a backup is to be laid, a name each. Raises StoreError."""
    asked = [name for tag in tags for name in _names(tag)]
    return [name for name, there in zip(asked, wire.answers([["EXISTS", one] for one in asked]), strict=True) if there]


def _names(tag: str) -> list[str]:
    keys = LogKeys(tag)
    log = [keys.meta, keys.stream, keys.heads, keys.secrets, keys.readmitted, keys.gone]
    return [
        *log,
        keys.deletions,
        keys.levels,
        keys.unjudged,
        keys.noted,
        *(keys.dedupe_of(bucket) for bucket in range(DEDUPE_BUCKETS)),
    ]


def begin_partition(wire: Wire, tag: str, backup: str, *, sealed: bool) -> int:
    """Mark a partition as this backup's, before anything of it is laid; how far its log is. Raises StoreMismatch where something
    else lies there."""
    keys = LogKeys(tag)
    held = wire.call("HGET", keys.meta, RESTORED)
    if held is None and (there := what_lies_there(wire, [tag])):
        raise StoreMismatch(
            f"that Redis is not empty: {there[0]} lies there; a backup is brought into an empty one alone"
        )
    if held is not None and held != backup.encode():
        raise StoreMismatch(f"partition {{{tag}}} came with another backup, {held.decode('utf-8', 'replace')[:40]}")
    if held is None:
        marks: list[Argument] = [RESTORED, backup, "live", FIRST_BUILD]
        marks += [SEALED_META, MOVED] if sealed else []
        wire.call("HSET", keys.meta, *marks)
    return int(wire.call("HGET", keys.meta, "head") or 0)


def lay(wire: Wire, tag: str, backup: str, after: int, some: Sequence[tuple[HeldEntry, Stored]]) -> None:
    """Write entries that follow on `after`. Raises StoreMismatch where the log is not there."""
    keys = LogKeys(tag)
    names: list[Argument] = [keys.meta, keys.stream, keys.heads]
    buckets, heads, told, recorded = dict[int, int](), dict[str, int](), list[Argument](), b""
    for held, one in some:
        field = dedupe_field(one.owner, one.raw_id)
        bucket = dedupe_bucket(field)
        if bucket not in buckets:
            names.append(keys.dedupe_of(bucket))
            buckets[bucket] = len(names)
        value = held.fingerprint + b"%d" % one.seq
        told += [buckets[bucket], field, value, len(held.held), *held.held]
        if one.kind.partition(".")[0] not in SIDE_EVENTS:
            heads[one.owner] = one.seq
        recorded = one.beside[_RECORDED]
    moved: list[Argument] = [part for pair in heads.items() for part in pair]
    reached = wire.run(_LAY, names, [RESTORED, backup, after, recorded, len(heads), *moved, *told])
    if reached != after + len(some):
        raise StoreMismatch(
            f"partition {{{tag}}} reaches {reached}, and was to reach {after + len(some)}: somebody else writes to this Redis",
            partition=tag,
        )


def put(wire: Wire, key: str, values: Iterable[tuple[bytes, bytes]]) -> None:
    """Fields and values of a hash, some at a time. Raises StoreError."""
    some, size = list[Argument](), 0
    for pair in values:
        some += pair
        size += sum(map(len, pair))
        if len(some) >= 2 * AT_ONCE or size >= _PUT_BYTES:
            wire.call("HSET", key, *some)
            some, size = [], 0
    if some:
        wire.call("HSET", key, *some)


def put_uses(wire: Wire, day: str, values: Iterable[tuple[bytes, bytes]], today: date) -> None:
    """What asking models took on a day, as long as that is kept; in all under no day. Raises StoreError."""
    if not day:
        put(wire, MODELS_KEY, values)
        return
    left = KEPT_DAYS - (today - date.fromisoformat(day)).days
    if left > 0:
        put(wire, day_key(day), values)
        wire.call("EXPIRE", day_key(day), min(left, KEPT_DAYS) * 86_400)


def begin_store(wire: Wire, fields: Sequence[tuple[bytes, bytes]], restored: bytes) -> list[bytes] | None:
    """Mark an empty Redis as a store that is being restored; of one that holds a store its id, format, and what it was restored
    from. Raises StoreError."""
    told: list[Argument] = [RESTORING, RESTORED, restored, *(part for pair in fields for part in pair)]
    answer: list[Any] = wire.run(BEGIN, [STORE_KEY], told)
    return None if answer == [b"ok"] else answer


def end_store(wire: Wire, fields: Mapping[str, str | bytes]) -> None:
    """Have the store be used, with these fields. Raises StoreMismatch where it was replaced."""
    told: list[Argument] = [part for pair in fields.items() for part in pair]
    answer = wire.run(FINISH, [STORE_KEY], [RESTORING, FORMAT, *told])
    if answer != b"ok":
        told = answer.decode("utf-8", "backslashreplace")[:20]
        raise StoreMismatch(f"this store is of format {told} by now: was it replaced meanwhile?", format=told)
