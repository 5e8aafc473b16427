"""Laying a backup into an empty store: a page of a partition's log by one script, with dedupe, owners' heads and the log's head.

So what stands of a partition is whole whenever it is looked at, and tells itself how far a killed restore came. All that is laid
carries the backup's id in the partition's meta, by which nothing else is appended, and no other backup is laid over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from engramlog_server.consumers.backup.proof import HeldEntry
from engramlog_server.events.catalogue import SIDE_EVENTS
from engramlog_server.events.entry import dedupe_field
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import StoreMismatch
from engramlog_server.events.partitions import (
    DEDUPE_BUCKETS,
    FORMAT,
    MODELS_KEY,
    MOVED,
    RESTORED,
    SEALED_META,
    STORE_KEY,
    LogKeys,
    dedupe_bucket,
)
from engramlog_server.events.redis.wire import Argument, Script, Wire
from engramlog_server.projections.redis.builds import FIRST_BUILD
from engramlog_server.projections.redis.create import RESTORING
from engramlog_server.projections.redis.usage import KEPT_DAYS, day_key

AT_ONCE = 500
PUT_BYTES = 4 << 20
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
LAY = Script(
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
    reached = wire.run(LAY, names, [RESTORED, backup, after, recorded, len(heads), *moved, *told])
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
        if len(some) >= 2 * AT_ONCE or size >= PUT_BYTES:
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
