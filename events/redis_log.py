"""The event log on Redis Streams: the only place that appends (XADD).

One script per partition and request: dedupe, expected head, gapless `seq + 1`, XADD with the explicit id `<seq>-0`. Every
check comes before the first write, and the first write is the one that may be refused, so a part is written whole or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple

import redis

from events.envelope import Prepared, Stored
from events.errors import StoreFull
from events.log import Receipt, check_request_size
from events.partitions import LogKeys, partition_of, position_text
from events.redis_wire import Argument, Script, Wire, WirePool, as_store_error, refusal_code

APPEND_FULL = 0.85
"""Share of maxmemory from which appends are refused; access events from 0.75: the rest belongs to commits and operators."""
ACCESS_FULL = 0.75

_APPEND = Script(
    "append",
    """
-- KEYS: meta, stream, heads, then dedupe buckets.
-- ARGV: events n, heads m, m x (owner, seq), n x (id, fingerprint, bucket, owner, moves, kind, body)
local n, m = tonumber(ARGV[1]), tonumber(ARGV[2])
local first = 2 + 2 * m
local head = tonumber(redis.call('HGET', KEYS[1], 'seq') or '0')
local seq, answer, seen, owners = head, {}, {}, {}
local clash = false
for i = 1, n do
  local at = first + (i - 1) * 7
  local id, print = ARGV[at + 1], ARGV[at + 2]
  local known = seen[id] or redis.call('HGET', KEYS[tonumber(ARGV[at + 3])], id)
  if known then
    local where = string.sub(known, 9)
    if string.sub(known, 1, 8) == print then answer[i] = '=' .. where else answer[i] = '!' .. where; clash = true end
  else
    seq = seq + 1
    seen[id] = print .. seq
    owners[ARGV[at + 4]] = true
    answer[i] = '+' .. seq
  end
end
if clash then return {'conflict', head, answer} end
local wrong = {}
for i = 1, m do
  local owner = ARGV[1 + 2 * i]
  local at = redis.call('HGET', KEYS[3], owner) or '0'
  if owners[owner] and at ~= ARGV[2 + 2 * i] then wrong[#wrong + 1] = owner; wrong[#wrong + 1] = at end
end
if #wrong > 0 then return {'head', head, answer, wrong} end
seq = head
local moved = {}
for i = 1, n do
  local at = first + (i - 1) * 7
  if string.sub(answer[i], 1, 1) == '+' then
    seq = seq + 1
    redis.call('XADD', KEYS[2], seq .. '-0', 't', ARGV[at + 6], 'i', ARGV[at + 1], 'o', ARGV[at + 4], 'e', ARGV[at + 7])
    redis.call('HSET', KEYS[tonumber(ARGV[at + 3])], ARGV[at + 1], ARGV[at + 2] .. seq)
    if ARGV[at + 5] == '1' then moved[ARGV[at + 4]] = seq end
  end
end
for owner, at in pairs(moved) do redis.call('HSET', KEYS[3], owner, at) end
redis.call('HSET', KEYS[1], 'seq', seq)
return {'ok', head, answer}
""",
)


_ON_DISK = {"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no"}
"""Settings under which every answered write is on disk."""


class _Durability(NamedTuple):
    """What one connection's server was found to promise, and until when that is believed."""

    generation: int
    until: float
    fsynced: bool | None


class RedisEventLog:
    """An `EventLog` in Redis. Safe for threads: each call borrows a connection of its own."""

    def __init__(
        self, client: redis.Redis, tags: Sequence[str], *, replicas: int = 0, replica_timeout_ms: int = 1_000
    ) -> None:
        self._wires = WirePool(client)
        self._keys = [LogKeys(tag) for tag in tags]
        self._replicas = replicas
        self._replica_timeout_ms = replica_timeout_ms
        self._durability: dict[Wire, _Durability] = {}
        self._memory: tuple[float, float | None] = (0.0, None)
        self._clock: tuple[float, int] | None = None

    @property
    def partitions(self) -> int:
        """How many partitions the store has."""
        return len(self._keys)

    def close(self) -> None:
        """Close idle connections."""
        self._wires.close()

    def append(self, events: Sequence[Prepared], *, expected_heads: Mapping[str, int] | None = None) -> list[Receipt]:
        """See `EventLog.append`. Raises StoreFull or StoreUnavailable where nothing can be said of any partition."""
        check_request_size(len(events))
        parts: dict[int, list[int]] = {}
        for index, event in enumerate(events):
            parts.setdefault(partition_of(event.owner, len(self._keys)), []).append(index)
        receipts: list[Receipt | None] = [None] * len(events)
        with self._wires.wire() as wire:
            self._refuse_when_full(wire, all(event.is_access for event in events))
            calls = [
                wire.evalsha(
                    _APPEND, *_arguments(self._keys[partition], [events[i] for i in indexes], expected_heads or {})
                )
                for partition, indexes in parts.items()
            ]
            fsynced = self._fsynced(wire)
            answers, replicas = self._send(wire, calls)
        for (partition, indexes), answer in zip(parts.items(), answers, strict=True):
            for i, receipt in zip(
                indexes, _receipts(partition, [events[i] for i in indexes], answer, fsynced, replicas), strict=True
            ):
                receipts[i] = receipt
        return [receipt for receipt in receipts if receipt]

    def _send(self, wire: Wire, calls: list[list[Argument]]) -> tuple[list[Any], int]:
        """The scripts' answers and how many replicas have them, all down one connection."""
        waits: list[list[Argument]] = [["WAIT", self._replicas, self._replica_timeout_ms]] if self._replicas else []
        answers = wire.pipeline([*calls, *waits])
        if any(isinstance(answer, redis.ResponseError) and refusal_code(answer) == "NOSCRIPT" for answer in answers):
            wire.call("SCRIPT", "LOAD", _APPEND.body)
            answers = wire.pipeline([*calls, *waits])
        if not waits:
            return answers, 0
        replicas = answers.pop()
        return answers, replicas if isinstance(replicas, int) else 0

    def _refuse_when_full(self, wire: Wire, only_accesses: bool) -> None:
        checked, share = self._memory
        if monotonic() - checked > 1.0:
            share = memory_share(wire)
            self._memory = (monotonic(), share)
        limit = ACCESS_FULL if only_accesses else APPEND_FULL
        if share is not None and share >= limit:
            raise StoreFull(
                f"Redis uses {share:.0%} of its maxmemory; appends are refused from {limit:.0%} on, so that folds go on:"
                " raise maxmemory or free memory, then send the same request again",
                retry_after=5,
            )

    def _fsynced(self, wire: Wire) -> bool | None:
        known = self._durability.get(wire)
        if known is None or known.generation != wire.generation or known.until < monotonic():
            known = _Durability(wire.generation, monotonic() + 60.0, read_durability(wire))
            self._durability[wire] = known
        return known.fsynced

    def read(self, partition: int, after: int, limit: int = 500) -> list[Stored]:
        """See `EventLog.read`."""
        with self._wires.wire() as wire:
            return entries(wire.call("XRANGE", self._keys[partition].stream, f"{after + 1}-0", "+", "COUNT", limit))

    def read_at(self, partition: int, seqs: Sequence[int]) -> list[Stored]:
        """See `EventLog.read_at`. Runs of adjacent seqs are read as ranges."""
        stream = self._keys[partition].stream
        commands = [["XRANGE", stream, f"{start}-0", f"{end}-0"] for start, end in runs(seqs)]
        found: list[Stored] = []
        with self._wires.wire() as wire:
            for at in range(0, len(commands), 500):
                for answer in wire.pipeline(commands[at : at + 500]):
                    if isinstance(answer, redis.ResponseError):
                        raise as_store_error(answer)
                    found.extend(entries(answer))
        return found

    def head(self, partition: int) -> int:
        """See `EventLog.head`."""
        with self._wires.wire() as wire:
            return int(wire.call("HGET", self._keys[partition].meta, "seq") or 0)

    def owner_head(self, owner: str) -> int:
        """See `EventLog.owner_head`."""
        with self._wires.wire() as wire:
            return int(wire.call("HGET", self._keys[partition_of(owner, self.partitions)].heads, owner) or 0)

    def now(self) -> int:
        """Redis's clock in microseconds, read once a minute and carried on by the monotonic clock between."""
        if self._clock is None or monotonic() - self._clock[0] > 60.0:
            with self._wires.wire() as wire:
                seconds, micros = wire.call("TIME")
            self._clock = (monotonic(), int(seconds) * 1_000_000 + int(micros))
        read_at, value = self._clock
        return value + int((monotonic() - read_at) * 1_000_000)


def _arguments(
    keys: LogKeys, events: Sequence[Prepared], expected: Mapping[str, int]
) -> tuple[list[Argument], list[Argument]]:
    names: list[Argument] = [keys.meta, keys.stream, keys.heads]
    numbers: dict[str, int] = {}
    owners = {event.owner for event in events}
    heads: list[Argument] = [part for owner, seq in expected.items() if owner in owners for part in (owner, seq)]
    arguments: list[Argument] = [len(events), len(heads) // 2, *heads]
    for event in events:
        bucket = keys.dedupe(event.raw_id)
        number = numbers.get(bucket)
        if number is None:
            names.append(bucket)
            number = numbers[bucket] = len(names)
        arguments += (
            event.raw_id,
            event.fingerprint,
            number,
            event.owner,
            int(event.moves_head),
            event.kind,
            event.body,
        )
    return names, arguments


def _receipts(
    partition: int, events: Sequence[Prepared], answer: Any, fsynced: bool | None, replicas: int
) -> list[Receipt]:
    if isinstance(answer, redis.ResponseError):
        failure = as_store_error(answer).message
        return [Receipt(event.event_id, "failed", error=failure) for event in events]
    outcome, head, items = answer[0], answer[1], answer[2]
    wrong = dict(zip(answer[3][::2], answer[3][1::2], strict=True)) if outcome == b"head" else {}
    if outcome != b"ok":
        replicas = 0  # nothing was written, so WAIT covered nothing
    receipts = []
    for event, item in zip(events, items, strict=True):
        mark, seq = item[:1], int(item[1:])
        position = position_text(partition, seq)
        if mark == b"=" and (seq <= head or outcome == b"ok"):
            receipts.append(Receipt(event.event_id, "already_appended", position, fsynced, replicas))
        elif mark == b"!":
            receipts.append(Receipt(event.event_id, "conflict", position if seq <= head else None))
        elif outcome == b"ok":
            receipts.append(Receipt(event.event_id, "appended", position, fsynced, replicas))
        elif mark == b"+" and event.owner.encode() in wrong:
            at = int(wrong[event.owner.encode()])
            receipts.append(Receipt(event.event_id, "head_mismatch", position_text(partition, at) if at else None))
        else:
            receipts.append(Receipt(event.event_id, "not_written"))
    return receipts


def entries(answer: list[Any] | None) -> list[Stored]:
    """Stream entries as Redis sends them, decoded."""
    return [
        Stored(int(entry[0][:-2]), entry[1][1].decode(), entry[1][3], entry[1][5].decode(), entry[1][7])
        for entry in answer or ()
    ]


def runs(seqs: Sequence[int]) -> list[tuple[int, int]]:
    """Adjacent increasing seqs as (first, last), at most 500 a run, in the order given."""
    found: list[tuple[int, int]] = []
    for seq in seqs:
        if found and found[-1][1] + 1 == seq and seq - found[-1][0] < 500:
            found[-1] = (found[-1][0], seq)
        else:
            found.append((seq, seq))
    return found


def memory_share(wire: Wire) -> float | None:
    """Used share of maxmemory; None where there is no limit or it cannot be read."""
    answer = _quietly(wire, "INFO", "memory")
    if not isinstance(answer, bytes):
        return None
    fields = dict(line.split(":", 1) for line in answer.decode().splitlines() if ":" in line)
    limit = int(fields.get("maxmemory", "0"))
    return int(fields["used_memory"]) / limit if limit else None


def read_durability(wire: Wire) -> bool | None:
    """Whether every answered write is on disk; None where the server does not tell."""
    answers = wire.pipeline([["CONFIG", "GET", name] for name in _ON_DISK])
    if any(isinstance(answer, redis.ResponseError) or len(answer) != 2 for answer in answers):
        return None
    return {name.decode(): value.decode() for name, value in answers} == _ON_DISK


def _quietly(wire: Wire, *command: str) -> Any:
    """The answer, or None where the server refuses or does not know the command."""
    wire.send(*command)
    try:
        return wire.receive()
    except redis.ResponseError:
        return None
