"""Opening the sealed bodies of entries that were read, and ids under which nothing is said again because their words were erased.

Salts and owners' keys are asked of the key store, once a batch. Marks of erased ids are outside the log, which is never changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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
from engramlog_server.events.encryption.cipher import (
    BODY_MARK,
    NotOpened,
    ValueCipher,
    body_about,
    body_dictionary,
    open_body,
    salts_id,
)
from engramlog_server.events.encryption.key_store import has_words
from engramlog_server.events.encryption.skeleton import WORDS
from engramlog_server.events.entry import commitment, keyed
from engramlog_server.events.envelope import AnyEvent, Prepared, Stored, decode
from engramlog_server.events.errors import (
    DamagedState,
    EngramlogError,
    InputError,
    KeyUnavailable,
    OwnerErased,
    refused,
)
from engramlog_server.events.log import Appendable
from engramlog_server.events.of_the_store import SYSTEM_OWNERS
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.secrets import read_ciphers
from engramlog_server.events.redis.wire import Script, Wire

GONE_BYTES = 16
_PURPOSE = b"erased id"
_MEMORY, _TURN = b"m", b"t"
_WORDED = frozenset(f"{name}." for name in WORDS)
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


def opened(wire: Wire, keys: LogKeys, found: Sequence[Stored]) -> list[Stored]:
    """The entries with their bodies open. Raises StoreError, KeyUnavailable where an owner's key cannot be had, and DamagedState
    where a body does not open under the right key, or what is said of keys and grants lies open in a sealed store: whoever can
    write to Redis would make himself a key. Of one whose words were erased it is the skeleton (`events.encryption.skeleton`); one
    whose salts are lost, or whose owner was erased, stays sealed. Any other that lies open in a sealed store does not open
    either."""
    if wire.seals.is_on and any(one.body[:1] != BODY_MARK for one in found):
        _refuse_planted(keys, found)
    answer, error = _opened(wire, keys, found, {})
    if error is not None:
        raise error
    return answer


def opened_where_it_can_be(
    wire: Wire, keys: LogKeys, found: Sequence[Stored], known: Mapping[str, ValueCipher]
) -> list[Stored]:
    """The same for a fold, which an owner must not stop for others: what does not open stays sealed, and cannot be decoded then.

    `known`: what opens the bodies of some owners. Raises StoreError.
    """
    return _opened(wire, keys, found, known)[0]


def _opened(
    wire: Wire, keys: LogKeys, found: Sequence[Stored], known: Mapping[str, ValueCipher]
) -> tuple[list[Stored], EngramlogError | None]:
    """The entries, open where they can be; and why the first that should open does not."""
    sealed = [at for at, one in enumerate(found) if one.body[:1] == BODY_MARK]
    if len(sealed) != len(found) and wire.seals.is_on:
        found = _without_open(found)
    answer = list(found)
    error: EngramlogError | None = None
    if not sealed or not wire.seals.is_on:
        return answer, None
    unknown = list({owner: None for at in sealed if (owner := found[at].owner) not in known})
    ciphers = {**known, **(read_ciphers(wire, keys, unknown) if unknown else {})}
    mine = [at for at in sealed if isinstance(ciphers.get(found[at].owner), ValueCipher)]
    salts = wire.seals.keys.salts([salts_id(found[at].body) for at in mine])
    for at in mine:
        one = found[at]
        cipher, value = ciphers[one.owner], salts.get(salts_id(one.body))
        if value is None or not isinstance(cipher, ValueCipher):
            continue
        try:
            answer[at] = open_entry(wire, keys, one, cipher, value)
        except DamagedState as damaged:
            error = error or damaged
    for at in sealed:
        locked = ciphers.get(found[at].owner)
        if isinstance(locked, KeyUnavailable) and not isinstance(locked, OwnerErased):
            return answer, locked
    return answer, error


def _refuse_planted(keys: LogKeys, found: Sequence[Stored]) -> None:
    """Raises DamagedState where an event of the store's own owners is not sealed."""
    for one in found:
        if one.owner in SYSTEM_OWNERS and one.body[:1] != BODY_MARK:
            raise DamagedState(
                f"the event at seq {one.seq} of partition {{{keys.tag}}} is about {one.owner} and not encrypted, in a sealed store:"
                " no append wrote it. Somebody else can write to this Redis; see `engramlog verify`, and restore the backup from"
                " before",
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


def open_entry(wire: Wire, keys: LogKeys, one: Stored, cipher: ValueCipher, salts: bytes) -> Stored:
    """A sealed entry with its body open, and the salt of its commitment; of one whose words were erased with its skeleton.

    `salts`: what the key store has. Raises DamagedState."""
    _, kind, raw_id, owner, sealed, beside, _ = one
    about = body_about(wire.seals.store, raw_id, owner, kind, *beside[_PRINCIPAL : _COMMITTED + 1])
    try:
        dictionary = body_dictionary(raw_id, owner, kind)
        opens, body = open_body(cipher.secret, salts, about, sealed, dictionary, has_words=has_words(salts))
    except NotOpened as error:
        raise DamagedState(
            f"the body at seq {one.seq} of partition {{{keys.tag}}} does not open, although its owner's key does: the body, its"
            " salts or its other fields were changed. Restore the backup that has the right one, and see `engramlog verify`",
            partition=keys.tag,
            seq=one.seq,
        ) from error
    return _STORED(Stored, (*one[:_BODY], body, one.beside, opens))
