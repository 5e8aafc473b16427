"""Opening the sealed bodies of entries that were read, and what the store has of entries whose words were erased.

Salts and owners' secrets are asked for once a batch. What is left of an erased entry is outside the log, which is never changed: it
is sealed under its owner's key, and bound to its place. No event may use the ids of what was erased again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, NamedTuple

from engramlog_server.events.catalogue import (
    EventData,
    FactAsserted,
    FactRetracted,
    MemoryCompressed,
    MemoryCreated,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
    ToolResultRecorded,
    TurnRecorded,
)
from engramlog_server.events.door.of_the_store import SYSTEM_OWNERS
from engramlog_server.events.entry import commitment, keyed
from engramlog_server.events.envelope import AnyEvent, Prepared, Stored, decode
from engramlog_server.events.errors import DamagedState, InputError, KeyUnavailable, OwnerErased, refused
from engramlog_server.events.log import Appendable
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.secrets import read_ciphers
from engramlog_server.events.redis.wire import Argument, Script, Wire
from engramlog_server.events.sealing.cipher import (
    BODY_MARK,
    NO_SALT,
    SALT_BYTES,
    VALUE_MARK,
    NotOpened,
    ValueCipher,
    body_about,
    open_body,
)
from engramlog_server.events.sealing.compression import body_dictionary
from engramlog_server.events.sealing.wordless import WORDS

ERASURE_BYTES = 36
"""Of the id of an erasure, before what is left."""
GONE_BYTES = 16
_PURPOSE = b"erased id"
_MEMORY, _TURN = b"m", b"t"
_WORDED = frozenset(f"{name}." for name in WORDS)
WIPE = Script(
    "wipe",
    """
-- KEYS: wordless, salts. ARGV: seq and what is left of it, in turn
-- What is left stands before the salt goes, by one write: there is no moment with neither. An entry without a salt is passed over:
-- of two erasures the first counts, and of an owner who went meanwhile nothing is left. What stands there beside a salt was written
-- by no erasure, and is written over. Answer: 1.
local nothing = string.rep('\\0', 16)
for i = 1, #ARGV, 2 do
  local at = 16 * tonumber(ARGV[i])
  local salt = redis.call('GETRANGE', KEYS[2], at, at + 15)
  if salt ~= '' and salt ~= nothing then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    redis.call('SETRANGE', KEYS[2], at, nothing)
  end
end
return 1
""",
)
FENCE_IDS = Script(
    "fence ids",
    """
-- KEYS: gone, meta. ARGV: digests. Answer: how many there are; whoever appends and knows of fewer is told to look again.
for i = 1, #ARGV, 1000 do redis.call('SADD', KEYS[1], unpack(ARGV, i, math.min(i + 999, #ARGV))) end
local many = redis.call('SCARD', KEYS[1])
if many > 0 then redis.call('HSET', KEYS[2], 'gone', many) end
return many
""",
)


class LeftOver(NamedTuple):
    """What is left of an entry, as it is stored."""

    erasure: str
    sealed: bytes


def laid_left(cipher: ValueCipher, owner: str, seq: int, erasure: str, body: bytes) -> bytes:
    """What is left of an entry as it is stored. `body`: canonical JSON of the event without its words."""
    return erasure.encode() + cipher.seal(_place(owner, seq), body)


def read_left(value: bytes) -> LeftOver | None:
    """A stored value parted; None for what no erasure wrote."""
    head, sealed = value[:ERASURE_BYTES], value[ERASURE_BYTES:]
    return LeftOver(head.decode("ascii", "replace"), sealed) if sealed[:1] == VALUE_MARK else None


def open_left(cipher: ValueCipher, owner: str, seq: int, value: bytes) -> bytes:
    """The body that is left of an entry. Raises NotOpened where no erasure of this owner wrote it there."""
    left = read_left(value)
    if left is None:
        raise NotOpened("what is left of an entry is sealed by nobody")
    return cipher.open(_place(owner, seq), left.sealed)


def _place(owner: str, seq: int) -> bytes:
    return b"wordless\0%b\0%d" % (owner.encode(), seq)


def wipe(wire: Wire, keys: LogKeys, left: Sequence[tuple[int, bytes]]) -> None:
    """Write what is left of entries, and zero bytes over their salts. Raises StoreError."""
    told: list[Argument] = [part for pair in left for part in pair]
    if told:
        wire.run(WIPE, [keys.wordless, keys.salts], told)


def memory_mark(secret: bytes, memory_id: str) -> bytes:
    """By what a memory's id is known again once it was erased."""
    return keyed(secret, _PURPOSE, _MEMORY + memory_id.encode(), GONE_BYTES)


def turn_mark(secret: bytes, turn_id: str, session: str | None) -> bytes:
    """The same of a turn of a session."""
    return keyed(secret, _PURPOSE, b"\0".join((_TURN + turn_id.encode(), (session or "").encode())), GONE_BYTES)


def owner_mark(secret: bytes) -> bytes:
    """Stands beside the marks of an owner: of whom there is none nothing is looked at."""
    return keyed(secret, _PURPOSE, b"", GONE_BYTES)


def fence_ids(wire: Wire, keys: LogKeys, marks: Collection[bytes]) -> None:
    """From here on no process appends words under these ids. Raises StoreError."""
    wire.run(FENCE_IDS, [keys.gone, keys.meta], sorted(marks))


class Gone:
    """The marks of each partition as one process knows them. Grows only: what is erased stays so."""

    def __init__(self) -> None:
        self._marks: dict[LogKeys, frozenset[bytes]] = {}

    def __bool__(self) -> bool:
        """Whether this process knows of any."""
        return bool(self._marks)

    def count(self, keys: LogKeys) -> int:
        """How many this process knows of."""
        return len(self._marks.get(keys, ())) if self._marks else 0

    def look(self, wire: Wire, keys: LogKeys) -> None:
        """Read them anew. Raises StoreError."""
        self._marks[keys] = frozenset(wire.call("SMEMBERS", keys.gone))

    def named(
        self, keys: LogKeys, events: Sequence[Appendable], secrets: Mapping[str, bytes]
    ) -> list[tuple[int, str, str]]:
        """Those of the events that bring words under an erased id: which, the field, the id."""
        marks = self._marks.get(keys)
        if not marks:
            return []
        touched = {owner for owner, secret in secrets.items() if owner_mark(secret) in marks}
        found = list[tuple[int, str, str]]()
        for number, one in enumerate(events):
            if one.owner in touched and (told := _erased_in(one, secrets[one.owner], marks)) is not None:
                found.append((number, *told))
        return found


def refusal(field: str, name: str) -> InputError:
    """What is told to whoever says something under an erased id."""
    return refused(
        f"data.{field}", name[:80], "another id, or nothing of it: the words under this one were erased for good"
    )


def _erased_in(one: Appendable, secret: bytes, marks: Collection[bytes]) -> tuple[str, str] | None:
    kind = one.kind.partition(".")[0] if isinstance(one, Prepared) else one.type
    if f"{kind}." not in _WORDED:
        return None
    event: AnyEvent = decode(one.kind, one.body) if isinstance(one, Prepared) else one
    data = event.data
    if isinstance(data, FactAsserted | FactRetracted):  # as an erasure has it: it goes with the last of its evidence
        is_gone = data.evidence and all(memory_mark(secret, name) in marks for name in data.evidence)
        return ("evidence", data.evidence[0]) if is_gone else None
    for field, name in _told_under(data):
        mark = turn_mark(secret, name, event.session_id) if field == "turn_id" else memory_mark(secret, name)
        if mark in marks:
            return field, name
    return None


def _told_under(data: EventData) -> list[tuple[str, str]]:
    """The ids under which an event brings words, with their fields."""
    if isinstance(data, TurnRecorded):
        return [("turn_id", data.turn_id)]
    if isinstance(data, ToolResultRecorded):
        return [] if data.turn_id is None else [("turn_id", data.turn_id)]
    if isinstance(data, MemoryMerged):
        return [("into", data.into), *(("sources", one) for one in data.sources)]
    if isinstance(data, MemoryCreated | MemoryRevised) or (
        (isinstance(data, MemoryCompressed) and data.content is not None)
        or (isinstance(data, MemoryNegated) and data.correction is not None)
    ):
        return [("memory_id", data.memory_id)]
    return []


_PRINCIPAL, _COMMITTED = 1, 4
"""Their places in the fields next to a body; level and digests are between them."""
_BODY = Stored._fields.index("body")
_STORED = tuple.__new__
_NEAR = 512
"""Seqs between two salts that one answer may hold besides."""


def opened(wire: Wire, keys: LogKeys, found: Sequence[Stored]) -> list[Stored]:
    """The entries with their bodies open. Raises StoreError, KeyUnavailable where an owner's key cannot be had, and DamagedState
    where a body does not open under the right key, or what is said of keys and grants lies open in a sealed store: whoever can
    write to Redis would make himself a key. Of one whose words were erased it is what is left (`events.sealing.wordless`); one
    whose salt is lost, or whose owner was erased, stays sealed. Any other that lies open in a sealed store does not open either."""
    sealed = [at for at, one in enumerate(found) if one.body[:1] == BODY_MARK]
    if len(sealed) != len(found) and wire.seals.is_on:
        _refuse_planted(keys, found)
        found = _without_open(found)
    if not sealed:
        return list(found)
    ciphers = read_ciphers(wire, keys, list({found[at].owner: None for at in sealed}))
    salts, answer = _salts(wire, keys, [found[at].seq for at in sealed]), list(found)
    wiped = list[int]()
    for at in sealed:
        one = found[at]
        cipher, salt = ciphers.get(one.owner), salts[one.seq]
        if isinstance(cipher, KeyUnavailable) and not isinstance(cipher, OwnerErased):
            raise cipher
        if isinstance(cipher, ValueCipher):
            if salt == NO_SALT:
                wiped.append(at)
            else:
                answer[at] = open_entry(wire, keys, one, cipher, salt)
    for at, left in _left(wire, keys, [(at, found[at]) for at in wiped], ciphers):
        if left is None:
            raise DamagedState(
                f"what is left of the event at seq {found[at].seq} of partition {{{keys.tag}}} does not open, though its owner's"
                " key does: no erasure wrote it; bring back the backup that has the right one, and see `engramlog verify`",
                partition=keys.tag,
                seq=found[at].seq,
            )
        answer[at] = left
    return answer


def _left(
    wire: Wire, keys: LogKeys, wiped: Sequence[tuple[int, Stored]], ciphers: Mapping[str, ValueCipher | KeyUnavailable]
) -> Iterator[tuple[int, Stored | None]]:
    """What is left of entries without a salt, of those of which anything is; None of what does not open. Raises StoreError."""
    if not wiped:
        return
    values = wire.call("HMGET", keys.wordless, *(one.seq for _, one in wiped))
    for (at, one), value in zip(wiped, values, strict=True):
        cipher = ciphers.get(one.owner)
        if value is not None and isinstance(cipher, ValueCipher):
            yield at, left_of(one, cipher, value)


def left_of(one: Stored, cipher: ValueCipher, value: bytes) -> Stored | None:
    """What is left of an entry whose words were erased, by what is stored of it; None where that does not open."""
    try:
        return _STORED(Stored, (*one[:_BODY], open_left(cipher, one.owner, one.seq, value), one.beside, b""))
    except NotOpened:
        return None


def _refuse_planted(keys: LogKeys, found: Sequence[Stored]) -> None:
    """Raises DamagedState where an event of the store's own owners is not sealed."""
    for one in found:
        if one.owner in SYSTEM_OWNERS and one.body[:1] != BODY_MARK:
            raise DamagedState(
                f"the event at seq {one.seq} of partition {{{keys.tag}}} is said of {one.owner} and lies open in a sealed store: no"
                " append wrote it, so somebody else can write to this Redis; see `engramlog verify`, and bring back the backup"
                " from before",
                partition=keys.tag,
                seq=one.seq,
            )


def _without_open(found: Sequence[Stored]) -> list[Stored]:
    """Entries of a sealed store; one that lies open is given as one that does not open, for no append wrote it. Its chain is the
    same."""
    return [one if one.body[:1] == BODY_MARK else as_shut(one) for one in found]


def as_shut(one: Stored) -> Stored:
    """An entry as one that does not open."""
    beside = one.beside
    if one.salt:
        beside = (*beside[:_COMMITTED], commitment(one.salt, one.body), *beside[_COMMITTED + 1 :])
    return one._replace(body=BODY_MARK + one.body, beside=beside, salt=b"")


def opened_where_it_can_be(
    wire: Wire, keys: LogKeys, found: Sequence[Stored], known: Mapping[str, ValueCipher]
) -> list[Stored]:
    """The same for a fold, which an owner must not stop for others: what does not open stays sealed, and cannot be decoded then.

    `known`: what opens the bodies of some owners. Raises StoreError.
    """
    sealed = [at for at, one in enumerate(found) if one.body[:1] == BODY_MARK]
    if len(sealed) != len(found) and wire.seals.is_on:
        found = _without_open(found)
    if not sealed:
        return list(found)
    unknown = list({owner: None for at in sealed if (owner := found[at].owner) not in known})
    ciphers = {**known, **(read_ciphers(wire, keys, unknown) if unknown else {})}
    salts, answer = _salts(wire, keys, [found[at].seq for at in sealed]), list(found)
    wiped = list[tuple[int, Stored]]()
    for at in sealed:
        one = found[at]
        cipher, salt = ciphers.get(one.owner), salts[one.seq]
        if isinstance(cipher, ValueCipher):
            if salt == NO_SALT:
                wiped.append((at, one))
                continue
            with suppress(DamagedState):
                answer[at] = open_entry(wire, keys, one, cipher, salt)
    for at, left in _left(wire, keys, wiped, ciphers):
        if left is not None:
            answer[at] = left
    return answer


def open_entry(wire: Wire, keys: LogKeys, one: Stored, cipher: ValueCipher, salt: bytes) -> Stored:
    """A sealed entry with its body open, and the salt of its commitment. Raises DamagedState."""
    _, kind, raw_id, owner, sealed, beside, _ = one
    about = body_about(wire.seals.store, raw_id, owner, kind, *beside[_PRINCIPAL : _COMMITTED + 1])
    try:
        opens, body = open_body(cipher.secret, salt, about, sealed, body_dictionary(raw_id, owner, kind))
    except NotOpened as error:
        raise DamagedState(
            f"the body at seq {one.seq} of partition {{{keys.tag}}} does not open, though its owner's key does: it, its salt or"
            " what stands beside it was changed; bring back the backup that has the right one, and see `engramlog verify`",
            partition=keys.tag,
            seq=one.seq,
        ) from error
    return _STORED(Stored, (*one[:_BODY], body, one.beside, opens))


def _salts(wire: Wire, keys: LogKeys, seqs: Sequence[int]) -> dict[int, bytes]:
    """The salt of each seq; zero bytes where there is none."""
    spans = list[list[int]]()
    for seq in sorted(seqs):
        if spans and seq - spans[-1][1] <= _NEAR:
            spans[-1][1] = seq
        else:
            spans.append([seq, seq])
    asked: list[list[Argument]] = [
        ["GETRANGE", keys.salts, SALT_BYTES * first, SALT_BYTES * (last + 1) - 1] for first, last in spans
    ]
    answers: list[Any] = wire.answers(asked)
    starts, raws = [first for first, _ in spans], dict(zip(map(itemgetter(0), spans), answers, strict=True))
    found = dict[int, bytes]()
    for seq in seqs:
        first = starts[bisect_right(starts, seq) - 1] if len(starts) > 1 else starts[0]
        at = SALT_BYTES * (seq - first)
        found[seq] = raws[first][at : at + SALT_BYTES] or NO_SALT
    return found
