"""What one append is to Redis: the script, its keys and arguments, and receipts from its answer.

Known events are answered with their mark and seq; the others follow the head in order, so that a request of nothing but
new events is answered in a few bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from events.entry import dedupe_field
from events.envelope import Prepared
from events.log import AppendReceipt
from events.partitions import LogKeys, dedupe_bucket, position_text
from events.redis.gap import appending_refused
from events.redis.wire import Argument, Script, as_store_error, packed

APPEND = Script(
    "append",
    """
-- KEYS: meta, stream, heads, secrets, then dedupe buckets.
-- ARGV: events n, heads m, secrets k, seq that the head must have reached, m x (owner, seq), k owners, their secrets,
-- n x (dedupe field, fingerprint, bucket, owner, moves, kind, id, body, principal, level, digests, commitment, salt)
-- Answer: outcome, head before, (index, mark and seq) of each event that was known, recorded, clock; the others follow the
-- head in order. Ids only grow from 1, so a log that is whole has as many entries as its head says: XLEN is one number that
-- Redis keeps. What is recorded never goes back: the clock's own word stands beside it where it did.
local call, KEYS, ARGV = redis.call, KEYS, ARGV
local n, m, k = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local first = 4 + 2 * (m + k)
local meta = call('HMGET', KEYS[1], 'head', 'rec')
local head = tonumber(meta[1] or '0')
if head < tonumber(ARGV[4]) then return {'rolled', head, {}} end
local many = call('XLEN', KEYS[2])
if many ~= head then return {'gap', head, {}, many} end
local other, unknown = {}, {}
local held = call('HMGET', KEYS[4], unpack(ARGV, 5 + 2 * m, 4 + 2 * m + k))
for i = 1, k do
  local owner, secret = ARGV[4 + 2 * m + i], ARGV[4 + 2 * m + k + i]
  if not held[i] then
    unknown[#unknown + 1] = owner
    unknown[#unknown + 1] = secret
  elseif held[i] ~= secret then
    other[#other + 1] = owner
    other[#other + 1] = held[i]
  end
end
if #other > 0 then return {'secret', head, {}, other} end
local seq, fresh, known, values, owners = head, {}, {}, {}, {}
local clash = false
for i = 1, n do
  local at = first + (i - 1) * 13
  local id = ARGV[at + 1]
  local held = values[id] or call('HGET', KEYS[tonumber(ARGV[at + 3])], id)
  if held then
    local same = string.sub(held, 1, 8) == ARGV[at + 2]
    if not same then clash = true end
    known[#known + 1] = i
    known[#known + 1] = (same and '=' or '!') .. string.sub(held, 9)
  else
    seq = seq + 1
    values[id] = ARGV[at + 2] .. seq
    fresh[#fresh + 1] = at
    if m > 0 then owners[ARGV[at + 4]] = true end
  end
end
if clash then return {'conflict', head, known} end
local wrong = {}
for i = 1, m do
  local owner = ARGV[3 + 2 * i]
  local at = call('HGET', KEYS[3], owner) or '0'
  if owners[owner] and at ~= ARGV[4 + 2 * i] then wrong[#wrong + 1] = owner; wrong[#wrong + 1] = at end
end
if #wrong > 0 then return {'head', head, known, wrong} end
if #fresh == 0 then return {'ok', head, known} end
local time = call('TIME')
local clock = string.format('%d%06d', tonumber(time[1]), tonumber(time[2]))
local recorded, back = clock, false
if meta[2] and tonumber(clock) < tonumber(meta[2]) then recorded, back = meta[2], true end
local heads, moved = {}, {}
seq = head
for _, at in ipairs(fresh) do
  local id, owner = ARGV[at + 1], ARGV[at + 4]
  seq = seq + 1
  if back then
    call('XADD', KEYS[2], seq .. '-0', 't', ARGV[at + 6], 'i', ARGV[at + 7], 'o', owner, 'e', ARGV[at + 8], 'r', recorded,
      'p', ARGV[at + 9], 'l', ARGV[at + 10], 'd', ARGV[at + 11], 'c', ARGV[at + 12], 's', ARGV[at + 13], 'w', clock)
  else
    call('XADD', KEYS[2], seq .. '-0', 't', ARGV[at + 6], 'i', ARGV[at + 7], 'o', owner, 'e', ARGV[at + 8], 'r', recorded,
      'p', ARGV[at + 9], 'l', ARGV[at + 10], 'd', ARGV[at + 11], 'c', ARGV[at + 12], 's', ARGV[at + 13])
  end
  call('HSET', KEYS[tonumber(ARGV[at + 3])], id, values[id])
  if ARGV[at + 5] == '1' then
    if not moved[owner] then heads[#heads + 1] = owner; heads[#heads + 1] = 0; moved[owner] = #heads end
    heads[moved[owner]] = seq
  end
end
for i = 1, #unknown, 1000 do call('HSET', KEYS[4], unpack(unknown, i, math.min(i + 999, #unknown))) end
for i = 1, #heads, 1000 do call('HSET', KEYS[3], unpack(heads, i, math.min(i + 999, #heads))) end
call('HSET', KEYS[1], 'head', seq, 'rec', recorded)
return {'ok', head, known, recorded, clock}
""",
)


class SealedEvent(NamedTuple):
    """An event and what stands beside its body, but for what only the script knows."""

    event: Prepared
    fingerprint: bytes
    principal: str
    level: bytes
    digests: bytes
    commitment: bytes
    salt: bytes


_EVENT = b"".join(b"$%d\r\n%b\r\n" for _ in range(13))
"""An event's arguments as Redis reads them: in a third of the time that packing each of them takes."""


def append_command(
    keys: LogKeys,
    events: Sequence[SealedEvent],
    secrets: Mapping[str, bytes],
    expected: Mapping[str, int],
    floor: int = 0,
) -> bytes:
    """The command of one partition's part of a request; of `expected`, the heads of its owners, and of `secrets` theirs.

    `floor`: the seq that its head must have reached, or nothing is written.
    """
    names: list[Argument] = [keys.meta, keys.stream, keys.heads, keys.secrets]
    numbers: dict[int, int] = {}
    owners = dict.fromkeys(one.event.owner for one in events)
    heads: list[Argument] = [part for owner, seq in expected.items() if owner in owners for part in (owner, seq)]
    keyed: list[Argument] = [*owners, *map(secrets.__getitem__, owners)]
    told = list[bytes]()
    for event, mark, principal, level, digests, committed, salt in events:
        field = dedupe_field(event.owner, event.raw_id)
        bucket = dedupe_bucket(field)
        number = numbers.get(bucket)
        if number is None:
            names.append(keys.dedupe_of(bucket))
            number = numbers[bucket] = len(names)
        at, owner, moves = b"%d" % number, event.owner.encode(), b"1" if event.moves_head else b"0"
        kind, raw_id, body, by = event.kind.encode(), event.raw_id, event.body, principal.encode()
        told.append(
            _EVENT
            % (
                *(len(field), field, len(mark), mark, len(at), at, len(owner), owner, 1, moves, len(kind), kind),
                *(len(raw_id), raw_id, len(body), body, len(by), by, len(level), level, len(digests), digests),
                *(len(committed), committed, len(salt), salt),
            )
        )
    counts = (len(events), len(heads) // 2, len(owners), floor)
    first = packed(("EVALSHA", APPEND.sha, len(names), *names, *counts, *heads, *keyed))
    arguments = 3 + len(names) + len(counts) + len(heads) + len(keyed) + 13 * len(events)
    return b"*%d" % arguments + first[first.index(b"\r") :] + b"".join(told)


def append_receipts(
    partition: int, events: Sequence[Prepared], answer: Any, fsynced: bool | None, replicas: int
) -> list[AppendReceipt]:
    """A receipt for each event of one partition's part, from the script's answer or its refusal."""
    if isinstance(answer, Exception):
        failure = as_store_error(answer).message
        return [AppendReceipt(event.event_id, "failed", error=failure) for event in events]
    outcome, head, told = answer[0], answer[1], answer[2]
    if outcome == b"rolled":
        lost = f"the head of partition {partition} is {head}, before what was acknowledged here; see `engramlog alarms`"
        return [AppendReceipt(event.event_id, "failed", error=lost) for event in events]
    if outcome == b"gap":
        return [
            AppendReceipt(event.event_id, "failed", error=appending_refused(partition, head, answer[3]))
            for event in events
        ]
    known = dict(zip(told[::2], told[1::2], strict=True))
    wrong = dict(zip(answer[3][::2], answer[3][1::2], strict=True)) if outcome == b"head" else {}
    if outcome != b"ok":
        replicas = 0  # nothing was written, so WAIT covered nothing
    receipts, newest = [], head
    for index, event in enumerate(events, 1):
        item = known.get(index)
        if item is None:
            newest += 1
            mark, seq = b"+", newest
        else:
            mark, seq = item[:1], int(item[1:])
        position = position_text(partition, seq)
        if mark == b"=" and (seq <= head or outcome == b"ok"):
            receipts.append(AppendReceipt(event.event_id, "already_appended", position, fsynced, replicas))
        elif mark == b"!":
            receipts.append(AppendReceipt(event.event_id, "conflict", position if seq <= head else None))
        elif outcome == b"ok":
            receipts.append(AppendReceipt(event.event_id, "appended", position, fsynced, replicas))
        elif mark == b"+" and event.owner.encode() in wrong:
            at = int(wrong[event.owner.encode()])
            receipts.append(
                AppendReceipt(event.event_id, "head_mismatch", position_text(partition, at) if at else None)
            )
        else:
            receipts.append(AppendReceipt(event.event_id, "not_written"))
    return receipts
