"""What the store has of entries whose words were erased: what folds take of each, and ids that nothing is said under again.

Both lie outside the log, which is never changed. What is left of an entry is sealed under its owner's key, and bound to its place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

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
from engramlog_server.events.entry import keyed
from engramlog_server.events.envelope import AnyEvent, Prepared, decode
from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.log import Appendable
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import Argument, Script, Wire
from engramlog_server.events.sealing.cipher import VALUE_MARK, NotOpened, ValueCipher
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
