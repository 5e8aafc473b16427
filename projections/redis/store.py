"""The write side of a build in Redis: leases with a fencing epoch, loading a working set, committing an outcome.

A commit is one Lua script: is the epoch mine, does the batch start at the checkpoint, is the entry at its end the event that was
folded? Then everything at once. The epoch makes it safe, not the clock. All scripts of the projections are here. They get every
value encoded, compare and then write.

Loading raises DamagedState if what is stored cannot be read, StoreError if Redis refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import msgspec
import redis

from engramlog_server.events.cipher import NotOpened, ValueCipher
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, KeyUnavailable, LogGap, LogRolledBack, LostLease, StoreMismatch
from engramlog_server.events.redis.durability import MENDING
from engramlog_server.events.redis.log import entries, runs
from engramlog_server.events.redis.secrets import opened as opened_entries
from engramlog_server.events.redis.secrets import read_ciphers, read_readmitted
from engramlog_server.events.redis.wire import Argument, Script, Wire, as_store_error, run_many
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.fold.changelog import pack
from engramlog_server.projections.fold.owner import OwnerState, decode_owner, encode_owner
from engramlog_server.projections.fold.partition import (
    Checkpoint,
    EncodedOutcome,
    Outcome,
    OwnerWrites,
    Quarantine,
    WorkingOwner,
    record_hash,
)
from engramlog_server.projections.fold.working_set import neighbours
from engramlog_server.projections.memory.record import Memory, decode_memory
from engramlog_server.projections.past.moments import MomentsHead, stored_head
from engramlog_server.projections.redis.builds import (
    SEALED_REASON,
    BuildKeys,
    open_reason,
    open_record,
    open_synonyms,
    seal_chunk,
    seal_reason,
    seal_record,
    seal_synonyms,
)

PACK_BYTES = 4_096
"""The tail of an owner's change log is appended to until it holds this much, and is a pack then."""
MOST_VALUES = 1_000
"""Named in one command at most."""
CHECKPOINT_FIELDS = ("seq", "head", "digest", "memories", "waiting", "full", "refused", "pieces", "reach", "reached")
"""Of the hash, what a fold writes; builds of before have nothing behind `memories`, whole ones nothing behind `refused`."""
PIECE_FIELDS = CHECKPOINT_FIELDS[-3:]
MOMENTS = "head"
"""The field that says what is kept of an owner's past."""
_T = TypeVar("_T")


class Lease(NamedTuple):
    """The right to fold one build of one partition, and the epoch that fences everybody else."""

    keys: BuildKeys
    holder: str
    epoch: int


def take_lease(
    wire: Wire, keys: BuildKeys, holder: str, *, now_ms: int, ttl_ms: int, must_be_live: bool = True
) -> Lease | None:
    """A lease with a fresh epoch, or None while another holds it (or the build is not the live one)."""
    required = keys.build if must_be_live else ""
    taken, epoch, _ = wire.run(LEASE, [keys.checkpoint, keys.log.meta], ["take", holder, now_ms, ttl_ms, 0, required])
    return Lease(keys, holder, int(epoch)) if taken else None


def renew_lease(wire: Wire, lease: Lease, *, now_ms: int, ttl_ms: int) -> bool:
    """Whether the lease is still ours; it then lasts `ttl_ms` from now."""
    arguments: list[Argument] = ["renew", lease.holder, now_ms, ttl_ms, lease.epoch, ""]
    return bool(wire.run(LEASE, [lease.keys.checkpoint, lease.keys.log.meta], arguments)[0])


def renew_leases(wire: Wire, leases: Sequence[Lease], *, now_ms: Sequence[int], ttl_ms: int) -> list[bool]:
    """Of each whether it is still ours, as `renew_lease` tells it; `now_ms` by the clock of each one's server."""
    asked = [
        ((lease.keys.checkpoint, lease.keys.log.meta), ("renew", lease.holder, now, ttl_ms, lease.epoch, ""))
        for lease, now in zip(leases, now_ms, strict=True)
    ]
    return [bool(answer[0]) for answer in run_many(wire, LEASE, asked)]


def release_leases(wire: Wire, leases: Sequence[Lease]) -> None:
    """Hand all of these over at once, as `release_lease` does."""
    asked = [
        ((lease.keys.checkpoint, lease.keys.log.meta), ("release", lease.holder, 0, 0, lease.epoch, ""))
        for lease in leases
    ]
    run_many(wire, LEASE, asked)


def release_lease(wire: Wire, lease: Lease) -> None:
    """Hand over at once; nothing happens where the lease is no longer ours."""
    wire.run(LEASE, [lease.keys.checkpoint, lease.keys.log.meta], ["release", lease.holder, 0, 0, lease.epoch, ""])


def read_checkpoint(wire: Wire, keys: BuildKeys) -> Checkpoint:
    """How far a build is folded. Raises DamagedState where the checkpoint cannot be read."""
    stored = wire.call("HMGET", keys.checkpoint, *CHECKPOINT_FIELDS)
    if stored == [None] * len(CHECKPOINT_FIELDS):
        return Checkpoint()
    seq, head, digest, memories, *more, reached = stored
    try:
        waiting, full, refused, pieces, reach = (int(one or 0) for one in more)
        counts = (int(memories), waiting, full, refused, pieces, reach, bytes(reached or b""))
        return Checkpoint(int(seq), bytes(head), int(digest, 16), *counts)
    except (TypeError, ValueError) as error:
        raise _damaged(keys, "the checkpoint", error) from error


def checkpoint_fields(checkpoint: Checkpoint) -> list[Argument]:
    """Fields and values of a checkpoint as they are stored, without those about pieces."""
    told = checkpoint._asdict() | {"digest": f"{checkpoint.digest:x}"}
    return [part for name in CHECKPOINT_FIELDS if name not in PIECE_FIELDS for part in (name, told[name])]


def read_live_checkpoint(wire: Wire, keys: BuildKeys) -> Checkpoint:
    """How far the live build is folded. Raises DamagedState where the checkpoint cannot be read, or the partition has entries and
    no checkpoint: every partition has one from its creation on."""
    found = read_checkpoint(wire, keys)
    if (
        found == Checkpoint()
        and not wire.call("HEXISTS", keys.checkpoint, "seq")
        and wire.call("XLEN", keys.log.stream)
    ):
        raise DamagedState(
            f"the checkpoint of build {keys.build} of partition {{{keys.tag}}} is gone, so somebody changed this Redis: nothing of"
            " the partition is folded before `engramlog rebuild`, which first compares the log with kept heads",
            partition=keys.tag,
            build=keys.build,
        )
    return found


_DECODE_QUARANTINE = msgspec.msgpack.Decoder(Quarantine)


def decode_quarantine(raw: bytes, cipher: ValueCipher | None = None, owner: str = "") -> Quarantine:
    """The quarantine in its stored bytes. A sealed reason is told where `cipher` opens it, which is the `owner`'s."""
    found = _DECODE_QUARANTINE.decode(raw)
    if found.reason[:1] != SEALED_REASON:
        return found
    return msgspec.structs.replace(found, reason=open_reason(cipher, owner, found.reason))


def read_stuck(wire: Wire, keys: BuildKeys, *, locked: bool, most: int | None = None) -> list[tuple[str, Quarantine]]:
    """Owners that stand still for want of their keys alone (`locked`), or for another reason, each with why as it is stored; at
    most so many of them. Raises StoreError."""
    found, cursor = dict[str, Quarantine](), b"0"
    while most is None or len(found) < most:
        cursor, page = wire.call("HSCAN", keys.quarantine, cursor, "COUNT", MOST_VALUES)
        for name, raw in zip(page[::2], page[1::2], strict=True):
            if (why := _DECODE_QUARANTINE.decode(raw)).is_locked == locked:
                found[name.decode()] = why
        if cursor == b"0":
            break
    return list(found.items())[:most]


def read_unread(wire: Wire, keys: BuildKeys) -> dict[str, int]:
    """Owners that stand still for an event that could not be read, each with its seq; in a sealed store as far as their keys can be
    had. Raises StoreError."""
    flat = wire.call("HGETALL", keys.quarantine)
    names = [name.decode() for name in flat[::2]]
    ciphers = read_ciphers(wire, keys.log, names) if wire.seals.is_on else {}
    found = {}
    for owner, raw in zip(names, flat[1::2], strict=True):
        cipher = ciphers.get(owner)
        why = decode_quarantine(raw, cipher if isinstance(cipher, ValueCipher) else None, owner)
        if why.is_unread:
            found[owner] = why.seq
    return found


def encode_quarantine(found: Quarantine, cipher: ValueCipher | None, owner: str) -> bytes:
    """Why an owner stands still, as it is stored."""
    return msgspec.msgpack.encode(msgspec.structs.replace(found, reason=seal_reason(cipher, owner, found.reason)))


def read_record(keys: BuildKeys, owner: str, memory_id: str, raw: bytes, cipher: ValueCipher | None = None) -> Memory:
    """A stored record; raises DamagedState where it cannot be read. `cipher`: what opens it, where it is sealed."""
    try:
        return decode_memory(open_record(cipher, owner, memory_id, raw))
    except UNREADABLE as error:
        raise _damaged(keys, f"the record of memory {memory_id} of owner {owner}", error) from error


def read_owner(keys: BuildKeys, owner: str, raw: bytes, cipher: ValueCipher | None = None) -> OwnerState:
    """A stored owner state; raises DamagedState where it cannot be read. Of a sealed store without its synonyms where no `cipher`
    opens them."""
    try:
        return decode_owner(raw, open_synonyms(cipher, owner))
    except (*UNREADABLE, NotOpened) as error:
        raise _damaged(keys, f"the state of owner {owner}", error) from error


def _damaged(keys: BuildKeys, what: str, error: Exception) -> DamagedState:
    return DamagedState(
        f"{what} cannot be read ({error}); the log is the truth: `engramlog verify` shows more, `engramlog rebuild` fixes it",
        partition=keys.tag,
        build=keys.build,
    )


def read_parked(wire: Wire, keys: BuildKeys, owner: str) -> list[int]:
    """Seqs of the owner's parked events, in order."""
    return [int(seq) for seq in wire.call("LRANGE", keys.parked(owner), 0, -1)]


def read_entries(
    wire: Wire, keys: BuildKeys, seqs: Sequence[int], *, sealed: bool = False, whole: bool = True
) -> list[Stored]:
    """The stored events at these seqs. `whole`: raises LogGap where one is not in the log any more. `sealed`: as they lie there."""
    answers = wire.answers([["XRANGE", keys.log.stream, f"{first}-0", f"{last}-0"] for first, last in runs(seqs)])
    found = [one for answer in answers for one in entries(answer, keys.tag)]
    if whole and len(found) != len(seqs):
        missing = min(set(seqs) - {one.seq for one in found}, default=0)
        raise LogGap(
            f"partition {{{keys.tag}}}: its log has no entry {missing} any more; {MENDING}",
            partition=keys.tag,
            missing=missing,
        )
    return found if sealed else opened_entries(wire, keys.log, found)


def slices(items: Sequence[_T], size: int) -> Iterable[list[_T]]:
    """Items in lists of so many, the last one shorter."""
    iterator = iter(items)
    while part := list(islice(iterator, size)):
        yield part


class _Writes:
    """Commands of one commit, with their keys numbered."""

    def __init__(self, *keys: str) -> None:
        self.keys: list[Argument] = list(keys)
        self._numbers = {key: number for number, key in enumerate(keys, 1)}
        self.arguments: list[Argument] = []

    def number_of(self, key: str) -> int:
        """The number by which the script knows a key."""
        number = self._numbers.get(key)
        if number is None:
            self.keys.append(key)
            number = self._numbers[key] = len(self.keys)
        return number

    def add(self, command: str, key: str, values: Sequence[Argument]) -> None:
        """One command, split where it has more values than a script may pass at once (an even number each)."""
        number = self.number_of(key)
        if len(values) <= MOST_VALUES:
            self.arguments += (command, number, len(values), *values)
        else:
            for part in slices(values, MOST_VALUES):
                self.arguments += (command, number, len(part), *part)


def commit_command(
    lease: Lease,
    outcome: Outcome,
    encoded: EncodedOutcome,
    owners: Mapping[str, WorkingOwner],
    *,
    pieces: int = 0,
    control: Sequence[str] = (),
) -> tuple[list[Argument], list[Argument]]:
    """Keys and arguments of the commit script; brings the owners' change logs forward.

    `pieces`: how many of what follows on the start are written. `control`: requests that this settles.
    """
    keys, checkpoint = lease.keys, encoded.checkpoint
    writes = _Writes(keys.checkpoint, keys.log.stream)
    writes.add("HSET", keys.checkpoint, checkpoint_fields(checkpoint))
    if checkpoint.pieces:
        told = ("pieces", checkpoint.pieces, "reach", checkpoint.reach, "reached", checkpoint.reached)
        writes.add("HSET", keys.checkpoint, told)
    elif pieces:
        writes.add("HDEL", keys.checkpoint, PIECE_FIELDS)
    states: list[Argument] = []
    for name, part in outcome.owners.items():
        owner = owners[name]
        if part.seqs:
            _write_log(writes, keys, name, part, owner)
            states += (name, encode_owner(owner.state, seal_synonyms(owner.cipher, name)))
        _write_owner(writes, keys, name, part, encoded.records[name], owner)
        if any(
            owner.memories[one].purged_at is not None for one in part.touched
        ):  # no past may hold its content either
            gone = stored_head(MomentsHead(owner.state.seq))
            writes.add("FORGET", keys.moments(name), (MOMENTS, gone))
    if states:
        writes.add("HSET", keys.owners, states)
    if control:
        writes.add("HDEL", keys.log.control, list(control))
    start = f"{outcome.start}+{pieces}" if pieces else outcome.start
    head: list[Argument] = [lease.epoch, start, outcome.seq, outcome.raw_id]
    return writes.keys, head + writes.arguments


def _write_log(writes: _Writes, keys: BuildKeys, name: str, part: OwnerWrites, owner: WorkingOwner) -> None:
    """What an owner's events are told by: laid behind the tail, or a pack by itself where it is large (`lay`)."""
    first = owner.state.applied - len(part.seqs) + 1
    chunk = seal_chunk(owner.cipher, name, pack(first, part.seqs, part.entries))
    closes, owner.tail = lay(owner.tail, len(chunk))
    if closes:
        writes.add("CLOSE", keys.tail(name), (writes.number_of(keys.changelog(name)), owner.state.pack))
    if owner.tail:
        writes.add("APPEND", keys.tail(name), (chunk,))
    else:
        writes.add("HSET", keys.changelog(name), (first, chunk))
    if owner.tail <= len(chunk):  # it begins a pack
        owner.state = msgspec.structs.replace(owner.state, pack=first)


def lay(tail: int, chunk: int) -> tuple[bool, int]:
    """Whether the tail, of so many bytes, becomes a pack before a chunk of so many is laid; and the tail's bytes after that.

    A chunk that would fill more than half of a pack is one by itself: then there is no tail.
    """
    closes = bool(tail) and tail + chunk > PACK_BYTES
    left = 0 if closes else tail
    return closes, left + chunk if left or chunk <= PACK_BYTES // 2 else 0


def _write_owner(
    writes: _Writes, keys: BuildKeys, name: str, part: OwnerWrites, records: Mapping[str, bytes], owner: WorkingOwner
) -> None:
    if records:
        stored = [part for one, raw in records.items() for part in (one, seal_record(owner.cipher, name, one, raw))]
        writes.add("HSET", keys.records(name), stored)
        writes.add(
            "ZADD", keys.changes(name), [value for memory_id, seq in part.touched.items() for value in (seq, memory_id)]
        )
    if part.parked_now is not None:
        writes.add("DEL", keys.parked(name), ())
    if parked := (part.parked_now or []) + part.park:
        writes.add("RPUSH", keys.parked(name), parked)
    if part.quarantine_changed:
        if owner.quarantine is None:
            writes.add("HDEL", keys.quarantine, (name,))
        else:
            writes.add("HSET", keys.quarantine, (name, encode_quarantine(owner.quarantine, owner.cipher, name)))


def receive_commit(wire: Wire, lease: Lease, outcome: Outcome) -> None:
    """Whether it was written. Raises LostLease or LogRolledBack where it was refused, StoreError where Redis refused.

    A duplicate (the checkpoint is already at this outcome's end) is a no-op.
    """
    try:
        answer = wire.receive()
    except redis.ResponseError as error:
        raise as_store_error(error) from error
    where = {"partition": lease.keys.tag, "build": lease.keys.build}
    if answer[0] == b"fenced":
        raise LostLease(
            f"partition {{{lease.keys.tag}}} is folded under epoch {int(answer[1])}, this batch was under {lease.epoch}",
            **where,
        )
    if answer[0] == b"elsewhere" and answer[1] != b"%d" % outcome.seq:
        raise LogRolledBack(
            f"partition {{{lease.keys.tag}}}: the checkpoint is {answer[1].decode()}, this batch starts at {outcome.start}",
            **where,
        )
    if answer[0] == b"rolled":
        raise LogRolledBack(
            f"partition {{{lease.keys.tag}}}: the log no longer holds the event folded at {outcome.seq}", **where
        )


def all_loaded(wanted: Mapping[str, Iterable[str]], owners: Mapping[str, WorkingOwner]) -> bool:
    """Whether `load_owners` would have nothing to ask Redis for."""
    for name, ids in wanted.items():
        owner = owners.get(name)
        if owner is None or not (owner.complete or all(memory_id in owner.memories for memory_id in ids)):
            return False
    return True


def load_owners(
    wire: Wire, keys: BuildKeys, wanted: Mapping[str, Iterable[str]], owners: dict[str, WorkingOwner]
) -> None:
    """Bring the wanted memories, and those their events may reach, into the working set `owners`."""
    unknown = [name for name in wanted if name not in owners]
    for names in slices(unknown, MOST_VALUES):
        tables = (keys.owners, keys.quarantine, keys.log.secrets)
        states, stuck, secrets = wire.answers([["HMGET", table, *names] for table in tables])
        back = read_readmitted(wire, keys.log, names)
        opened = _ciphers(
            wire, keys, {name: line for name, line in zip(names, secrets, strict=True) if line is not None}
        )
        for name, state, why in zip(names, states, stuck, strict=True):
            owner = owners[name] = WorkingOwner(complete=state is None)
            _hold(wire, owner, opened.get(name))
            _pass_over(owner, back.get(name, 0))
            if owner.locked is not None:
                owner.complete = True  # nothing of it can be read
            elif state is not None:
                owner.state = read_owner(keys, name, state, owner.cipher)
            if why is not None:
                owner.quarantine = decode_quarantine(why, owner.cipher, name)
    stands = [name for name in unknown if owners[name].quarantine is not None]
    for name, seq in zip(stands, wire.answers([["LINDEX", keys.parked(name), -1] for name in stands]), strict=True):
        owners[name].parked_to = int(seq or 0)
    told = [name for name in unknown if owners[name].state.pack]
    for name, size in zip(told, wire.answers([["STRLEN", keys.tail(name)] for name in told]), strict=True):
        owners[name].tail = size
    missing = {
        name: [i for i in ids if i not in owners[name].memories]
        for name, ids in wanted.items()
        if not owners[name].complete
    }
    while missing := {name: ids for name, ids in missing.items() if ids}:
        missing = _load_records(wire, keys, missing, owners)


def load_secrets(wire: Wire, keys: BuildKeys, owners: Mapping[str, WorkingOwner], names: Iterable[str]) -> None:
    """The secrets of those of these owners whose is not known yet; nothing is asked where all are. Raises DamagedState."""
    unknown = [name for name in names if not owners[name].secret and owners[name].locked is None]
    for some in slices(unknown, MOST_VALUES):
        found = zip(some, wire.call("HMGET", keys.log.secrets, *some), strict=True)
        opened = _ciphers(wire, keys, {name: line for name, line in found if line is not None})
        back = read_readmitted(wire, keys.log, some)
        for name in some:
            _hold(wire, owners[name], opened.get(name))
            _pass_over(owners[name], back.get(name, 0))


def _pass_over(owner: WorkingOwner, to: int | KeyUnavailable) -> None:
    """Note up to where an owner's events are passed over; where that is not known nothing of it is folded."""
    if isinstance(to, KeyUnavailable):
        owner.locked = owner.locked or to
    else:
        owner.erased_to = to


def _hold(wire: Wire, owner: WorkingOwner, found: ValueCipher | KeyUnavailable | None) -> None:
    """Give an owner what opens it: nothing where the store has no secret of it, why where its key cannot be had."""
    if isinstance(found, KeyUnavailable):
        owner.locked = found
    elif found is not None:
        owner.secret = found.secret
        owner.cipher = found if wire.seals.is_on else None


def _ciphers(wire: Wire, keys: BuildKeys, lines: Mapping[str, bytes]) -> dict[str, ValueCipher | KeyUnavailable]:
    """What opens each owner. Raises DamagedState for a line that no append made."""
    try:
        return wire.seals.ciphers(lines)
    except StoreMismatch as error:
        raise DamagedState(error.message, partition=keys.tag, build=keys.build) from error


def _load_records(
    wire: Wire, keys: BuildKeys, missing: Mapping[str, Sequence[str]], owners: Mapping[str, WorkingOwner]
) -> dict[str, list[str]]:
    asked = [(name, ids) for name, all_ids in missing.items() for ids in slices(all_ids, MOST_VALUES)]
    further: dict[str, list[str]] = {}
    found = wire.answers([["HMGET", keys.records(name), *ids] for name, ids in asked])
    for (name, ids), records in zip(asked, found, strict=True):
        owner = owners[name]
        for memory_id, record in zip(ids, records, strict=True):
            if record is None:
                continue
            plain = open_record(owner.cipher, name, memory_id, record)
            memory = owner.memories[memory_id] = read_record(keys, name, memory_id, plain)
            owner.hashes[memory_id] = record_hash(owner.secret, name, memory_id, plain)
            reached = [i for i in neighbours(memory) if i not in owner.memories]
            if reached:
                further.setdefault(name, []).extend(reached)
    return {name: [i for i in dict.fromkeys(ids) if i not in owners[name].memories] for name, ids in further.items()}


EPOCH_CHECK = """
local epoch = redis.call('HGET', KEYS[1], 'epoch') or '0'
if epoch ~= ARGV[1] then return {'fenced', epoch} end
"""
START_CHECK = """
local at, pieces = redis.call('HGET', KEYS[1], 'seq') or '0', redis.call('HGET', KEYS[1], 'pieces')
if pieces then at = at .. '+' .. pieces end
if at ~= ARGV[2] then return {'elsewhere', at} end
"""
ENTRY_CHECK = """
if ARGV[4] ~= '' then
  local entry = redis.call('XRANGE', KEYS[2], ARGV[3] .. '-0', ARGV[3] .. '-0')[1]
  if not entry or entry[2][4] ~= ARGV[4] then return {'rolled', ARGV[3]} end
end
"""
WRITES = """
-- Nothing that is touched again is empty in between: a slot that is moved to another node refuses a key that is not there, in the
-- middle of what is written. So what makes a key empty comes last.
local i, call, emptied, lists, fields = 5, redis.call, {}, {}, {}
while i <= #ARGV do
  local command, key, n = ARGV[i], KEYS[tonumber(ARGV[i + 1])], tonumber(ARGV[i + 2])
  if command == 'CLOSE' then  -- of a change log: the tail becomes the pack of this name
    local tail = call('GET', key)
    if tail then
      call('HSET', KEYS[tonumber(ARGV[i + 3])], ARGV[i + 4], tail)
      call('SET', key, '')
      emptied[#emptied + 1] = key
    end
  elseif command == 'FORGET' then  -- what readers made, where they made anything: it is made anew behind this
    if call('EXISTS', key) == 1 then
      local before, kept = call('HKEYS', key), {}
      call('HSET', key, unpack(ARGV, i + 3, i + 2 + n))
      for at = i + 3, i + 2 + n, 2 do kept[ARGV[at]] = true end
      for _, name in ipairs(before) do
        if not kept[name] then call('HDEL', key, name) end
      end
    end
  elseif command == 'DEL' then  -- of a list: what it holds so far
    lists[#lists + 1] = {key, call('LLEN', key)}
  elseif command == 'HDEL' then
    fields[key] = fields[key] or {}
    for at = i + 3, i + 2 + n do table.insert(fields[key], ARGV[at]) end
  else
    call(command, key, unpack(ARGV, i + 3, i + 2 + n))
  end
  i = i + 3 + n
end
for _, key in ipairs(emptied) do
  if call('STRLEN', key) == 0 then call('DEL', key) end
end
for _, one in ipairs(lists) do
  if one[2] > 0 then call('LTRIM', one[1], one[2], -1) end
end
for key, names in pairs(fields) do call('HDEL', key, unpack(names)) end
return {'ok'}
"""


def commit_script(*checks: str) -> Script:
    """The commit with the checks given. KEYS: checkpoint, stream, ...; ARGV: epoch, start, seq, event id, then writes.

    The start is a seq, and `+` with the number of pieces where some of what follows on it is written.
    """
    return Script("commit", "".join(checks) + WRITES)


COMMIT = commit_script(EPOCH_CHECK, START_CHECK, ENTRY_CHECK)

LEASE = Script(
    "lease",
    """
-- KEYS: checkpoint, meta. ARGV: mode, holder, now ms, ttl ms, epoch held, build that must be live or ''
-- A lease that would last longer than four times one's own was taken before the clock went back: it has ended.
local holder = redis.call('HGET', KEYS[1], 'holder')
local ends = tonumber(redis.call('HGET', KEYS[1], 'until') or '0')
local epoch = redis.call('HGET', KEYS[1], 'epoch') or '0'
if ARGV[1] == 'take' then
  if ARGV[6] ~= '' and redis.call('HGET', KEYS[2], 'live') ~= ARGV[6] then return {0, epoch, 'not live'} end
  local lasts = ends - tonumber(ARGV[3])
  if holder and holder ~= ARGV[2] and lasts > 0 and lasts <= 4 * tonumber(ARGV[4]) then return {0, epoch, holder} end
  epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
  redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'until', tonumber(ARGV[3]) + tonumber(ARGV[4]))
  return {1, tostring(epoch), ARGV[2]}
end
if holder ~= ARGV[2] or epoch ~= ARGV[5] then return {0, epoch, holder or ''} end
if ARGV[1] == 'renew' then
  redis.call('HSET', KEYS[1], 'until', tonumber(ARGV[3]) + tonumber(ARGV[4]))
else
  redis.call('HDEL', KEYS[1], 'holder', 'until')
end
return {1, epoch, holder}
""",
)

DELTA = Script(
    "delta",
    """
-- KEYS: meta, checkpoint, owners, quarantine, changes, records, heads, stream. ARGV: owner, build, token, since seq
-- Answer: what is to be done, token, checkpoint, quarantine, head, the owner's head, entries of the log, and the records
local live = redis.call('HGET', KEYS[1], 'live') or ''
local head = redis.call('HGET', KEYS[1], 'head') or '0'
local own = redis.call('HGET', KEYS[7], ARGV[1]) or '0'
local many = redis.pcall('XLEN', KEYS[8])
if type(many) ~= 'number' then many = 0 end
if live ~= ARGV[2] then return {'build', live, '0', '', head, own, many} end
local token = redis.call('HGET', KEYS[3], ARGV[1]) or ''
local stuck = redis.call('HGET', KEYS[4], ARGV[1]) or ''
local at = redis.call('HGET', KEYS[2], 'seq') or '0'
if token == ARGV[3] then return {'same', token, at, stuck, head, own, many} end
if ARGV[3] == '' then return {'reload', token, at, stuck, head, own, many} end
local ids = redis.call('ZRANGEBYSCORE', KEYS[5], '(' .. ARGV[4], '+inf', 'LIMIT', '0', '1000')
if #ids >= 999 then return {'reload', token, at, stuck, head, own, many} end
local records = {}
if #ids > 0 then records = redis.call('HMGET', KEYS[6], unpack(ids)) end
return {'delta', token, at, stuck, head, own, many, ids, records}
""",
)

SWITCH = Script(
    "switch",
    """
-- KEYS: meta, live checkpoint, new checkpoint. ARGV: live build, new build, now ms
if redis.call('HGET', KEYS[1], 'live') ~= ARGV[1] then return {'other', redis.call('HGET', KEYS[1], 'live')} end
local old, new = redis.call('HGET', KEYS[2], 'seq') or '0', redis.call('HGET', KEYS[3], 'seq') or '0'
if tonumber(new) < tonumber(old) or redis.call('HEXISTS', KEYS[3], 'pieces') == 1 then return {'behind', old, new} end
redis.call('HSET', KEYS[1], 'live', ARGV[2], 'old:' .. ARGV[1], ARGV[3])
redis.call('HINCRBY', KEYS[2], 'epoch', 1)
redis.call('HDEL', KEYS[2], 'holder', 'until')
redis.call('HINCRBY', KEYS[3], 'epoch', 1)
redis.call('HDEL', KEYS[3], 'holder', 'until')
return {'ok', new}
""",
)

BEGIN_PARTITION = Script(
    "begin a partition",
    """
-- KEYS: meta, stream, checkpoint of the first build. ARGV: first build, fields and values of the checkpoint
-- One that has entries gets no checkpoint here: where it is gone, somebody took it away, and a rebuild alone folds them again.
-- A partition that has begun is only read, so that a store opens on a Redis that is full.
local live = redis.call('HGET', KEYS[1], 'live')
if not live then
  redis.call('HSET', KEYS[1], 'live', ARGV[1])
  live = ARGV[1]
end
if live ~= ARGV[1] or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if redis.call('HEXISTS', KEYS[3], 'seq') == 1 then return 0 end
redis.call('HSET', KEYS[3], unpack(ARGV, 2))
return 1
""",
)

CREATE_STORE = Script(
    "create store",
    """
-- KEYS: engramlog:store. ARGV: field, value, ...
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
""",
)
