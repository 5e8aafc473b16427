"""Appending a request of events: the script with its keys and arguments, the parts by partition, and receipts from the answers.

Known events are answered with their mark and seq; the others follow the head in order, so that a request of nothing but
new events is answered in a few bytes.

If one server fails, the request fails whole. On a Cluster parts are on several nodes: a part that cannot be sent yet, because its
slot is being moved or its node was lost, waits for a bounded time while the others are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from struct import Struct
from time import monotonic, sleep
from typing import Any, NamedTuple

import msgspec
import redis

from engramlog_server.events.alarms import CLUSTER_WAITS, Alarm, Alarms
from engramlog_server.events.cipher import SALT_BYTES, body_about, body_dictionary, seal_body
from engramlog_server.events.envelope import (
    Marker,
    Prepared,
    commitment,
    dedupe_field,
    fingerprint,
    principal_of,
    skeleton_of,
    told_beside,
)
from engramlog_server.events.errors import StoreError, StoreFull, StoreUnavailable
from engramlog_server.events.log import Appendable, AppendReceipt, marked, ready
from engramlog_server.events.partitions import ALARMS_KEY, MAX_PARTITIONS, LogKeys, dedupe_bucket, position_text
from engramlog_server.events.redis.durability import (
    WRITTEN,
    KeptReceipts,
    Promise,
    Proving,
    Receipts,
    appending_refused,
)
from engramlog_server.events.redis.secrets import SEALED_SINCE, Chance, Gone, OwnerSecret, Secrets, read_seqs, refusal
from engramlog_server.events.redis.server import StoreClock
from engramlog_server.events.redis.wire import (
    AGAIN,
    TOGETHER_BYTES,
    Argument,
    Script,
    Wire,
    as_store_error,
    in_haste,
    packed,
    refusal_code,
)

APPEND = Script(
    "append",
    """
-- KEYS: meta, stream, heads, secrets, then dedupe buckets.
-- ARGV: events n, heads m, owners k, seq that the head must have reached (-1: what a restored store lacks is said again), how many
-- erased ids are known, pieces, secrets,
-- m x (owner, seq), words, n bodies
-- pieces, 101 bytes an event: dedupe field 16, fingerprint 8, id 16, commitment 32, salt 16, then as two bytes each the number
-- of the bucket's key and, among the words, of owner, kind, principal, level and digests; 1 where the event moves the head.
-- secrets: a line an owner, its length before it as two bytes. words: the k owners, then whatever else stands beside a body; each
-- once. A body that begins with byte 2 is sealed: the salt of its commitment is in it, and is not written.
-- Answer: outcome, head before, (index, mark and seq) of each event that was known, recorded, clock; the others follow the
-- head in order. Ids only grow from 1, so a log that is whole has as many entries as its head says: XLEN is one number that
-- Redis keeps. What is recorded never goes back: the clock's own word stands beside it where it did.
local call, KEYS, ARGV, sub, byte = redis.call, KEYS, ARGV, string.sub, string.byte
local n, m, k = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local pieces, secrets, words, bodies = ARGV[6], ARGV[7], 7 + 2 * m, #ARGV - n
local meta = call('HMGET', KEYS[1], 'head', 'rec', 'sealed', 'gone', 'restored')
local head = tonumber(meta[1] or '0')
if meta[5] and ARGV[4] ~= '-1' then return {'restored', head, {}} end
if meta[3] then
  for i = 1, n do
    if meta[3] ~= '3' or byte(ARGV[bodies + i]) ~= 2 then return {'sealed', head, {}} end
  end
end
if head < tonumber(ARGV[4]) then return {'rolled', head, {}} end
if (meta[4] or '0') ~= ARGV[5] then return {'gone', head, {}} end
local many = call('XLEN', KEYS[2])
if many ~= head then return {'gap', head, {}, many} end
local other, unknown = {}, {}
local held = call('HMGET', KEYS[4], unpack(ARGV, words + 1, words + k))
local from = 1
for i = 1, k do
  local high, low = byte(secrets, from, from + 1)
  local secret = sub(secrets, from + 2, from + 1 + 256 * high + low)
  from = from + 2 + 256 * high + low
  if held[i] ~= secret then
    local told = held[i] and other or unknown
    told[#told + 1] = ARGV[words + i]
    told[#told + 1] = held[i] or secret
  end
end
if #other > 0 then return {'secret', head, {}, other} end
local fresh, ids, seqs, values, known, owners, clash = {}, {}, {}, {}, {}, {}, false
local count = 0
for i = 1, n do
  local at = 101 * (i - 1)
  local id = sub(pieces, at + 1, at + 16)
  local held = values[id]
  if not held then
    local high, low = byte(pieces, at + 89, at + 90)
    held = call('HGET', KEYS[256 * high + low], id)
  end
  if held then
    local same = sub(held, 1, 8) == sub(pieces, at + 17, at + 24)
    if not same then clash = true end
    known[#known + 1] = i
    known[#known + 1] = (same and '=' or '!') .. sub(held, 9)
  else
    count = count + 1
    local seq = head + count .. ''
    fresh[count], ids[count], seqs[count] = at, id, seq
    values[id] = sub(pieces, at + 17, at + 24) .. seq
    if m > 0 then
      local high, low = byte(pieces, at + 91, at + 92)
      owners[ARGV[words + 256 * high + low]] = true
    end
  end
end
if clash then return {'conflict', head, known} end
local wrong = {}
for i = 1, m do
  local owner = ARGV[6 + 2 * i]
  local at = call('HGET', KEYS[3], owner) or '0'
  if owners[owner] and at ~= ARGV[7 + 2 * i] then wrong[#wrong + 1] = owner; wrong[#wrong + 1] = at end
end
if #wrong > 0 then return {'head', head, known, wrong} end
if count == 0 then return {'ok', head, known} end
local time = call('TIME')
local clock = string.format('%d%06d', tonumber(time[1]), tonumber(time[2]))
local recorded, back = clock, false
if meta[2] and tonumber(clock) < tonumber(meta[2]) then recorded, back = meta[2], true end
local heads, moved = {}, {}
for j = 1, count do
  local at, id, seq = fresh[j], ids[j], seqs[j]
  local b1, b2, o1, o2, t1, t2, p1, p2, l1, l2, d1, d2, moves = byte(pieces, at + 89, at + 101)
  local owner, kind, by = ARGV[words + 256 * o1 + o2], ARGV[words + 256 * t1 + t2], ARGV[words + 256 * p1 + p2]
  local level, digests = ARGV[words + 256 * l1 + l2], ARGV[words + 256 * d1 + d2]
  local raw, committed, salt = sub(pieces, at + 25, at + 40), sub(pieces, at + 41, at + 72), sub(pieces, at + 73, at + 88)
  local body = ARGV[bodies + at / 101 + 1]
  if byte(body) == 2 then salt = '' end
  if back then
    call('XADD', KEYS[2], seq .. '-0', 't', kind, 'i', raw, 'o', owner, 'e', body, 'r', recorded, 'p', by, 'l', level,
      'd', digests, 'c', committed, 's', salt, 'w', clock)
  else
    call('XADD', KEYS[2], seq .. '-0', 't', kind, 'i', raw, 'o', owner, 'e', body, 'r', recorded, 'p', by, 'l', level,
      'd', digests, 'c', committed, 's', salt)
  end
  call('HSET', KEYS[256 * b1 + b2], id, values[id])
  if moves == 1 then
    local place = moved[owner]
    if not place then
      place = #heads + 2
      moved[owner], heads[place - 1] = place, owner
    end
    heads[place] = seq
  end
end
for i = 1, #unknown, 1000 do call('HSET', KEYS[4], unpack(unknown, i, math.min(i + 999, #unknown))) end
for i = 1, #heads, 1000 do call('HSET', KEYS[3], unpack(heads, i, math.min(i + 999, #heads))) end
call('HSET', KEYS[1], 'head', seqs[count], 'rec', recorded)
return {'ok', head, known, recorded, clock}
""",
)


SAID_AGAIN = -1
"""The floor of whoever says again what a restored store lacks: it has no receipts there, and passes the fence of such a store."""
TAKES_NOTHING = (
    "this store was restored from a backup and is not the original: it takes nothing new until an operator has taken it over"
    " (`engramlog backup take-over`); nothing was written"
)


class Brought(NamedTuple):
    """What a request's events have in common: who brings them, who looks at them, their owners' secrets, the heads expected."""

    principal: str
    marker: Marker
    secrets: Mapping[str, OwnerSecret]
    expected: Mapping[str, int]
    sealed: bytes | None = None
    """The store's id where its bodies are sealed."""
    take_salts: Callable[[int], Sequence[tuple[int, bytes]]] = lambda _count: ()
    """Salts for the keys of so many sealed bodies."""


_PIECES = Struct(">16s8s16s32s16s6HB").pack


class _Words(dict[str | bytes, int]):
    """Numbers of words, from 1 in the order in which they are asked for first."""

    def __missing__(self, word: str | bytes) -> int:
        self[word] = number = len(self) + 1
        return number


def append_command(
    keys: LogKeys, events: Sequence[Appendable], brought: Brought, salts: bytes, floor: int = 0, gone: int = 0
) -> tuple[bytes, list[Prepared]]:
    """The command of one partition's part of a request, and its events as they are written. `salts`: 16 random bytes an
    event.

    `floor`: the seq that its head must have reached, `gone`: how many erased ids this process knows of, or nothing is written. An
    argument costs Redis about a quarter of a microsecond, so an event is one, its body: what else it has is told by number, or lies
    end to end with that of the others.
    """
    principal, marker, secrets, expected, sealed, take_salts = brought
    body_salts = iter(take_salts(len(events)) if sealed is not None else ())
    names = list[Argument](_first_names(keys.tag))
    buckets, pieces, bodies, ready = dict[int, int](), list[bytes](), list[bytes](), list[Prepared]()
    owners = list(dict.fromkeys([event.owner for event in events]))
    words = _Words(zip(owners, count(1), strict=False))
    heads = [part for owner, seq in expected.items() if owner in words for part in (owner, seq)]
    at = 0
    for event in events:
        one, marks = marked(event, marker)
        _, raw_id, owner, kind, body, moves, _, _, model, trust, _ = one
        secret, salt = secrets[owner].secret, salts[at : (at := at + SALT_BYTES)]
        level, digests = told_beside(secret, marker, marks, trust)
        field = dedupe_field(owner, raw_id)
        bucket = dedupe_bucket(field)
        key = buckets.get(bucket)
        if key is None:
            names.append(keys.dedupe_of(bucket))
            key = buckets[bucket] = len(names)
        said_by = principal if model is None else principal_of(principal, model)
        keyed, committed, told = (
            fingerprint(secret, body),
            commitment(salt, body),
            (words[level], words[digests], moves),
        )
        by = words[said_by]
        if sealed is not None:
            about = body_about(sealed, raw_id, owner, kind, said_by.encode(), level, digests, committed)
            parts = body, skeleton_of(kind, body)
            body = seal_body(secret, next(body_salts), about, salt, parts, body_dictionary(raw_id, owner, kind))
        pieces.append(_PIECES(field, keyed, raw_id, committed, salt, key, words[owner], words[kind], by, *told))
        bodies.append(body)
        ready.append(one)
    counts = (len(events), len(heads) // 2, len(owners), floor, gone)
    laid = b"".join(pieces), b"".join([_laid(secrets[owner].line) for owner in owners])
    command = packed(("EVALSHA", APPEND.sha, len(names), *names, *counts, *laid, *heads, *words, *bodies))
    return command, ready


def _laid(line: bytes) -> bytes:
    return len(line).to_bytes(2, "big") + line


@lru_cache(maxsize=MAX_PARTITIONS)
def _first_names(tag: str) -> tuple[str, ...]:
    keys = LogKeys(tag)
    return keys.meta, keys.stream, keys.heads, keys.secrets


def append_receipts(
    partition: int, events: Sequence[Prepared], answer: Any, fsynced: bool | None, replicas: int
) -> list[AppendReceipt]:
    """A receipt for each event of one partition's part, from the script's answer or its refusal."""
    if (failure := _failure(partition, answer)) is not None:
        return [AppendReceipt(event.event_id, "failed", error=failure) for event in events]
    outcome, head, told = answer[0], answer[1], answer[2]
    if outcome == b"ok" and not told:
        return [
            AppendReceipt(event.event_id, "appended", position_text(partition, seq), fsynced, replicas)
            for seq, event in enumerate(events, head + 1)
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


def _failure(partition: int, answer: Any) -> str | None:
    """Why nothing can be said of any event of a part, by the script's answer; None where something can."""
    if isinstance(answer, Exception):
        return as_store_error(answer).message
    if answer[0] == b"restored":
        return f"partition {partition}: {TAKES_NOTHING}"
    if answer[0] == b"sealed":
        return f"partition {partition} {SEALED_SINCE}"
    if answer[0] == b"rolled":
        return f"the head of partition {partition} is {answer[1]}, before what was acknowledged here; see `engramlog alarms`"
    return appending_refused(partition, answer[1], answer[3]) if answer[0] == b"gap" else None


_SECRET_TRIES = 5
"""How often a part is sent again because another process made an owner's secret at the same time; once does."""
_CHANGING = (
    "the secrets of owners of partition {}, or what was erased there, change while they are asked for: is the store being replaced?"
    " Then send again; else see `engramlog verify`"
)
PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.02, 0.25
"""Between two tries of parts that cannot be sent yet: at first, and at most."""
TELL_SECONDS = 1.0
"""From when on an alarm tells that parts wait."""


class AppendRequest(NamedTuple):
    """What was asked to be appended, and by whom."""

    events: Sequence[Appendable]
    expected_heads: Mapping[str, int]
    principal: str


class _Answered(NamedTuple):
    """What came of one part: the script's answer or why there is none; and how far it is proved."""

    answer: Any
    fsynced: bool | None
    replicas: int


class _Sent(NamedTuple):
    """What became of some parts that have no receipts."""

    again: dict[int, list[int]]
    """To be sent again at once: another process made an owner's secret first, or something was erased meanwhile."""
    waiting: dict[int, StoreUnavailable]
    """Not carried out, and may be later."""


class AppendSending:
    """Sends what one log appends. Safe for threads, each with a wire of its own."""

    def __init__(
        self,
        keys: Sequence[LogKeys],
        secrets: Secrets,
        kept: KeptReceipts,
        clock: StoreClock,
        *,
        marker: Marker,
        chance: Chance,
        proving: Proving,
        alarms: Alarms | None,
        says_again: bool = False,
    ) -> None:
        """`says_again`: what is kept outside of the store, and it lacks."""
        self._says_again = says_again
        self.gone = Gone()
        self._keys, self._secrets, self._kept, self._clock = keys, secrets, kept, clock
        self._marker, self._chance, self._proving, self._alarms = marker, chance, proving, alarms
        self._told: set[int] = set()
        """Partitions of which an alarm tells that they wait."""

    def send(self, wire: Wire, request: AppendRequest, parts: Mapping[int, list[int]], receipts: Receipts) -> None:
        """Send these parts and write their receipts. Raises StoreUnavailable, ReceiptLost or StoreFull where nothing can be said of
        any of them, and UnderReplicated where what was written is not proved."""
        errors = dict[int, StoreError]()
        if wire.many:
            self._send_to_nodes(wire, request, parts, receipts, errors)
        else:
            self._send_all(wire, request, parts, receipts, errors)
        if errors and errors.keys() == parts.keys():
            raise next(iter(errors.values()))
        if any(one and one.error and "NOREPLICAS" in one.error for one in receipts):
            self._refuse_for_the_disk(wire, receipts)
        self._proving.refuse_unproved(parts, receipts)

    def _send_all(
        self,
        wire: Wire,
        request: AppendRequest,
        parts: Mapping[int, list[int]],
        receipts: Receipts,
        errors: dict[int, StoreError],
    ) -> dict[int, StoreUnavailable]:
        """Send these parts, but for those of which a receipt was lost; gives those that wait."""
        self._kept.ask(wire, parts if wire.many else None)
        asked = wire.generation
        left, waiting = dict(parts), dict[int, StoreUnavailable]()
        for partition, error in self._kept.refuse_lost(wire, parts).items():
            errors[partition] = error
            fail(request, left.pop(partition), receipts, error.message)
        for _ in range(_SECRET_TRIES):
            if not left:
                break
            left, more = self._send(wire, request, left, receipts, asked)
            waiting |= more
        for partition, indexes in left.items():
            fail(request, indexes, receipts, _CHANGING.format(partition))
        return waiting

    def _send_to_nodes(
        self,
        wire: Wire,
        request: AppendRequest,
        parts: Mapping[int, list[int]],
        receipts: Receipts,
        errors: dict[int, StoreError],
    ) -> None:
        """The same on a Cluster: what cannot be sent yet is tried again for as long as the wire is patient."""
        began, pause = monotonic(), PAUSE_SECONDS
        patience = wire.patience
        with in_haste(wire):
            left = dict(parts)
            while True:
                waiting = self._try(wire, request, left, receipts, errors)
                self._tell(left.keys() - waiting.keys(), waiting, monotonic() - began)
                left = {partition: parts[partition] for partition in waiting}
                if not left or monotonic() - began >= patience:
                    break
                sleep(pause)
                pause = min(2 * pause, MOST_PAUSE_SECONDS)
        for partition, error in waiting.items():
            fail(request, parts[partition], receipts, error.message)
        errors |= waiting

    def _try(
        self,
        wire: Wire,
        request: AppendRequest,
        parts: Mapping[int, list[int]],
        receipts: Receipts,
        errors: dict[int, StoreError],
    ) -> dict[int, StoreUnavailable]:
        """Send what can be sent; gives what waits. One node that fails keeps no other part from being written."""
        try:
            return self._send_all(wire, request, parts, receipts, errors)
        except StoreUnavailable as error:
            left = {partition: indexes for partition, indexes in parts.items() if receipts[indexes[0]] is None}
            if len(left) > 1:
                waiting = dict[int, StoreUnavailable]()
                for some in _by_node(wire, self._keys, left):
                    waiting |= self._try(wire, request, some, receipts, errors)
                return waiting
            if error.not_done:
                return dict.fromkeys(left, error)
            for partition, indexes in left.items():
                errors[partition] = error
                fail(request, indexes, receipts, error.message)
            return {}

    def _tell(self, written: Iterable[int], waiting: Mapping[int, StoreUnavailable], seconds: float) -> None:
        """Raise the alarm of parts that wait, and clear it once they are written."""
        if self._alarms is None:
            return
        for partition in self._told.intersection(written):
            self._told.discard(partition)
            self._alarms.cleared(CLUSTER_WAITS, f"partition {partition}")
        if seconds >= TELL_SECONDS:
            for partition, error in waiting.items():
                if partition not in self._told:
                    self._told.add(partition)
                    self._alarms.raised(CLUSTER_WAITS, f"partition {partition}", error.message)

    def _send(
        self, wire: Wire, request: AppendRequest, parts: Mapping[int, list[int]], receipts: Receipts, asked: int
    ) -> _Sent:
        """Send these parts once and write the receipts of those that were answered.

        `asked`: the generation under which it was looked whether kept receipts hold. Raises StoreUnavailable where it is over.
        """
        events, newer, found = request.events, set[int](), _Sent({}, {})
        secrets = self._secrets.of(wire, {events[i].owner for indexes in parts.values() for i in indexes})
        wire.load(APPEND)
        promised = self._proving.promises(wire, parts)
        commands, sent, waiting, size = list[bytes](), list[list[Prepared]](), list[bytes](), 0
        parts = self._allowed(wire, parts, events, secrets, receipts)
        _refuse_new_connections(wire, asked)
        sealed = wire.seals.store if wire.seals.is_on else None
        take = wire.seals.keys.take if sealed is not None else (lambda _count: ())
        brought = Brought(request.principal, self._marker, secrets, request.expected_heads, sealed, take)
        for partition, indexes in parts.items():
            mine, salts = [events[i] for i in indexes], self._chance(SALT_BYTES * len(indexes))
            keys = self._keys[partition]
            floor = SAID_AGAIN if self._says_again else self._kept.floor(partition)
            command, written = append_command(keys, mine, brought, salts, floor, self.gone.count(keys))
            sent.append(written)
            commands.append(command)
            waiting.append(command)
            size += len(command)
            if size >= TOGETHER_BYTES:
                wire.send_together(waiting)
                waiting, size = [], 0
        if waiting:
            wire.send_together(waiting)
        answers = self._answers(wire, parts, commands, promised) if commands else ()
        for (partition, indexes), written, (answer, fsynced, replicas) in zip(
            parts.items(), sent, answers, strict=True
        ):
            if isinstance(answer, list) and answer[0] == b"gone":
                found.again[partition] = indexes
                continue
            if isinstance(answer, list) and answer[0] == b"secret":
                lines = zip(answer[3][::2], answer[3][1::2], strict=True)
                self._secrets.keep(wire.seals, {name.decode(): line for name, line in lines})
                found.again[partition] = indexes
                newer.add(partition)
                continue
            if wire.many and isinstance(answer, Exception):
                error = answer if isinstance(answer, StoreUnavailable) else as_store_error(answer)
                if isinstance(error, StoreUnavailable) and error.not_done:
                    found.waiting[partition] = error
                else:
                    fail(request, indexes, receipts, error.message)
                continue
            self._kept.keep(partition, written, answer, proved=replicas >= self._proving.least)
            if isinstance(answer, list) and len(answer) == WRITTEN:
                self._clock.saw(int(answer[4]), int(answer[3]))
            told = append_receipts(partition, written, answer, fsynced, replicas)
            for i, receipt in zip(indexes, told, strict=True):
                receipts[i] = receipt
        for partition in found.again.keys() - newer:
            self.gone.look(wire, self._keys[partition])
        return found

    def _allowed(
        self,
        wire: Wire,
        parts: Mapping[int, list[int]],
        events: Sequence[Appendable],
        secrets: Mapping[str, OwnerSecret],
        receipts: Receipts,
    ) -> Mapping[int, list[int]]:
        """The parts of which no event that is not known yet says something under an erased id; of the others receipts are written.

        Raises InputError where nothing of the request is written so far.
        """
        if not self.gone:
            return parts
        allowed = dict(parts)
        for partition, indexes in parts.items():
            keys = self._keys[partition]
            if self.gone.count(keys):
                mine = [events[i] for i in indexes]
                known = {event.owner: secrets[event.owner].secret for event in mine}
                for number, field, name in self.gone.named(keys, mine, known):
                    one = ready(mine[number])
                    if read_seqs(wire, keys, one.owner, [one.event_id]):
                        continue
                    if not any(receipt is not None and receipt.written for receipt in receipts):
                        raise refusal(field, name)
                    for i in allowed.pop(partition):
                        why = refusal(field, name).message
                        receipts[i] = AppendReceipt(ready(events[i]).event_id, "failed", error=why)
                    break
        return allowed

    def _answers(
        self,
        wire: Wire,
        parts: Mapping[int, list[int]],
        commands: list[bytes],
        promised: Mapping[int, Promise],
    ) -> Iterable[_Answered]:
        """Each script's answer, as soon as it is there, and how far it is proved, all down one connection to each server."""
        found, partitions = list[Any](), list(parts)
        sent = self._proving.standing(wire, partitions) if self._proving.is_asked else {}
        while len(found) < len(commands):
            found.append(_answer(wire))
            if len(found) == 1 and not self._proving.is_asked and not _is_forgotten(found[0]):
                yield _Answered(found.pop(), promised[partitions.pop(0)].kept, 0)
                commands = commands[1:]
        if forgotten := [number for number, answer in enumerate(found) if _is_forgotten(answer)]:
            wire.load_again(APPEND)
            wire.send_together([commands[number] for number in forgotten])
            for number in forgotten:
                found[number] = _answer(wire)
            sent |= self._proving.standing(wire, [partitions[number] for number in forgotten])
        proved = self._proving.proved(wire, partitions, found, sent)
        for partition, answer, (on_disk, replicas) in zip(partitions, found, proved, strict=True):
            yield _Answered(answer, promised[partition].told(on_disk), replicas)

    def _refuse_for_the_disk(self, wire: Wire, receipts: Sequence[AppendReceipt | None]) -> None:
        """Where Redis takes no writes since its disk is full (`ops.embedded.disk`), raises StoreFull with that disk's name."""
        try:
            told = wire.call("HGET", ALARMS_KEY, "disk_full|")
        except StoreUnavailable:
            if not wire.many:
                raise
            return  # the alarms lie on a node that was lost: what was written elsewhere is told all the same
        if told and not any(one and one.written for one in receipts):
            text = msgspec.json.decode(told, type=Alarm).text
            raise StoreFull(f"{text}; make room, then send the same request again", retry_after=30)


def _by_node(wire: Wire, keys: Sequence[LogKeys], parts: Mapping[int, list[int]]) -> list[dict[int, list[int]]]:
    """Parts by the node that holds them; each by itself where they lie on one, or nobody tells."""
    by_node: dict[str, dict[int, list[int]]] = {}
    try:
        for partition, indexes in parts.items():
            by_node.setdefault(wire.node_of(keys[partition].meta), {})[partition] = indexes
    except StoreUnavailable:
        by_node.clear()
    if len(by_node) > 1:
        return list(by_node.values())
    return [{partition: indexes} for partition, indexes in parts.items()]


def _refuse_new_connections(wire: Wire, asked: int) -> None:
    if wire.many and wire.generation != asked:
        raise StoreUnavailable(f"a connection to the cluster was lost meanwhile; {AGAIN}", retry_after=1, not_done=True)


def fail(request: AppendRequest, indexes: Sequence[int], receipts: Receipts, why: str) -> None:
    """Write into the receipts of these events that they failed, and why."""
    for i in indexes:
        receipts[i] = AppendReceipt(ready(request.events[i]).event_id, "failed", error=why)


def _answer(wire: Wire) -> Any:
    """The next answer; a refusal as its error, and on a Cluster a node that was lost too."""
    try:
        return wire.receive()
    except redis.ResponseError as error:
        return error
    except StoreUnavailable as error:
        if not wire.many:
            raise
        return error


def _is_forgotten(answer: Any) -> bool:
    """Whether Redis no longer knew the script, so that nothing was done."""
    return isinstance(answer, redis.ResponseError) and refusal_code(answer) == "NOSCRIPT"
