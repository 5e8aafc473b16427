"""The secret of each owner, which keys everything derived from its words, and the bodies of entries opened with it.

The append script alone makes a secret, at the owner's first event, in one write with the events that it keys. If another process
was quicker, the script writes nothing and returns the line that is there. Here secrets are read and kept for a while. Salts and
owners' keys are read from the key store, once a batch.

Marks of erased ids are here too: nobody appends words again under an id whose words were erased. The marks are outside the log,
which is never changed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import NamedTuple
from uuid import UUID

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
from engramlog_server.events.cipher import (
    BODY_MARK,
    SECRET_BYTES,
    NotOpened,
    ValueCipher,
    body_about,
    body_dictionary,
    open_body,
    salts_id,
)
from engramlog_server.events.envelope import (
    FINGERPRINT_BYTES,
    WORDS,
    AnyEvent,
    Naming,
    Prepared,
    Stored,
    commitment,
    decode,
    dedupe_field,
    keyed,
)
from engramlog_server.events.errors import (
    DamagedState,
    EngramlogError,
    InputError,
    KeyUnavailable,
    OwnerErased,
    StoreError,
    StoreMismatch,
    refused,
)
from engramlog_server.events.keys import Seals, erased, has_words, is_tombstone
from engramlog_server.events.log import Appendable
from engramlog_server.events.partitions import SYSTEM_OWNERS, LogKeys, dedupe_bucket, partition_of
from engramlog_server.events.redis.wire import Argument, Script, Wire

MOST_KEPT = 50_000
"""Secrets that one process keeps at most, of the owners asked for last: about 10 MB."""
SEALED_SINCE = (
    "was sealed, or is being sealed, since this process opened the store: nothing was written; once `engramlog seal` is done,"
    " restart it with ENGRAMLOG_SEALED_BY"
)
"""What is told of a partition that takes nothing open any more."""
Chance = Callable[[int], bytes]
"""So many random bytes."""


class OwnerSecret(NamedTuple):
    """An owner's secret, and the line that it is in the store: itself, or wrapped under the master key."""

    secret: bytes
    line: bytes
    stands: bool = True
    """Whether the store has it, as far as is known; one that is proposed is wrapped anew at each append, for the master key may
    have been replaced since."""


def read_lines(wire: Wire, tags: Sequence[str], owners: Iterable[str]) -> dict[str, bytes]:
    """The lines of those owners that have one. Raises StoreError."""
    asked: dict[int, list[str]] = {}
    for owner in owners:
        asked.setdefault(partition_of(owner, len(tags)), []).append(owner)
    commands: list[list[Argument]] = [["HMGET", LogKeys(tags[at]).secrets, *names] for at, names in asked.items()]
    found: dict[str, bytes] = {}
    for names, answer in zip(asked.values(), wire.answers(commands), strict=True):
        found.update((name, line) for name, line in zip(names, answer, strict=True) if line is not None)
    return found


def read_secrets(wire: Wire, tags: Sequence[str], owners: Iterable[str]) -> dict[str, bytes]:
    """The secrets of those owners that have one. Raises StoreError, KeyUnavailable too, and StoreMismatch for one that is none."""
    return wire.seals.secrets(read_lines(wire, tags, owners))


def read_secret(wire: Wire, keys: LogKeys, owner: str) -> bytes:
    """The secret of an owner; empty where it has none. Raises as `read_secrets`."""
    line = wire.call("HGET", keys.secrets, owner)
    return b"" if line is None else wire.seals.secrets({owner: line})[owner]


def usable_secret(wire: Wire, keys: LogKeys, owner: str) -> bytes | None:
    """The secret of an owner for what is derived and may be left out: None where it has none, or what stands there is none.

    Raises StoreError, KeyUnavailable too.
    """
    try:
        return read_secret(wire, keys, owner) or None
    except StoreMismatch:
        return None


def read_ciphers(wire: Wire, keys: LogKeys, owners: Sequence[str]) -> dict[str, ValueCipher | KeyUnavailable]:
    """What opens the values of each of these owners of one partition, or why it cannot be had; nothing of who has no secret.

    Raises StoreError, and StoreMismatch for a line that no append made.
    """
    lines = zip(owners, wire.call("HMGET", keys.secrets, *owners), strict=True) if owners else ()
    return wire.seals.ciphers({owner: line for owner, line in lines if line is not None})


def read_cipher(wire: Wire, keys: LogKeys, owner: str) -> ValueCipher | None:
    """What seals and opens an owner's values; None where the store lies open, or the owner has no secret.

    Raises as `read_secrets`.
    """
    if not wire.seals.is_on:
        return None
    found = read_ciphers(wire, keys, [owner]).get(owner)
    if isinstance(found, KeyUnavailable):
        raise found
    return found


def refuse_erased(wire: Wire, keys: LogKeys, owner: str) -> None:
    """Raise OwnerErased where an owner's key was destroyed; of an open store nothing is asked. Raises StoreError."""
    if wire.seals.is_on and (line := wire.call("HGET", keys.secrets, owner)) is not None and is_tombstone(line):
        raise erased(owner)


def read_readmitted(wire: Wire, keys: LogKeys, owners: Sequence[str]) -> dict[str, int | KeyUnavailable]:
    """Owners of a partition who were erased and readmitted -> seq up to which nothing of them can be read, or why that is not
    known: no readmission wrote what stands there, or it is beyond the log. Raises StoreError."""
    if not wire.seals.is_on or not owners:
        return {}
    told = [one for one in zip(owners, wire.call("HMGET", keys.readmitted, *owners), strict=True) if one[1] is not None]
    if not told:
        return {}
    head, found = whole_number(wire.call("HGET", keys.meta, "head")), dict[str, int | KeyUnavailable]()
    for owner, line in told:
        try:
            seq, _ = readmission(owner, line)
            found[owner] = seq if seq <= head else KeyUnavailable(_BEYOND.format(owner), passes=False, owner=owner)
        except StoreMismatch as error:
            found[owner] = KeyUnavailable(error.message, passes=False, owner=owner)
    return found


_BEYOND = "up to where owner {!r} stays erased lies beyond the log: no readmission wrote it; bring back the backup that has it"
_MOST_DIGITS = 19


def whole_number(told: bytes | None) -> int:
    """A number as an append writes one; 0 for anything else."""
    return int(told) if told is not None and told.isdigit() and len(told) <= _MOST_DIGITS else 0


def readmission(owner: str, line: bytes) -> tuple[int, str]:
    """Up to where an owner stays erased, and by what. Raises StoreMismatch for a line that no readmission wrote."""
    seq, space, erasure = line.partition(b" ")
    if not (space and seq.isdigit() and len(seq) <= _MOST_DIGITS and erasure):
        raise StoreMismatch(
            f"up to where owner {owner!r} stays erased cannot be read: no readmission wrote it; bring back the backup that has it",
            owner=owner,
        )
    return int(seq), erasure.decode("utf-8", "replace")


class Secrets:
    """Owners' secrets as one process knows them. Safe for threads."""

    def __init__(self, tags: Sequence[str], chance: Chance) -> None:
        self._tags = tags
        self._chance = chance
        self._kept: OrderedDict[str, OwnerSecret] = OrderedDict()
        self._generations: dict[Wire, int] = {}
        self._lock = Lock()

    def of(self, wire: Wire, owners: Iterable[str]) -> dict[str, OwnerSecret]:
        """A secret for each of these owners: the one that stands, or one proposed. Raises StoreError.

        On a new connection all are asked for again: another history may stand behind it.
        """
        with self._lock:
            if self._generations.get(wire) != wire.generation:
                self._generations[wire] = wire.generation
                self._kept.clear()
            asked = list(owners)
            found = {
                owner: held
                for owner in asked
                if (held := self._kept.get(owner)) is not None and (held.stands or not wire.seals.is_on)
            }
        unknown = [owner for owner in asked if owner not in found]
        if not unknown:
            return found
        lines = read_lines(wire, self._tags, unknown)
        told = wire.seals.secrets(lines)
        made = {owner: self._chance(SECRET_BYTES) for owner in unknown if owner not in lines}
        lines |= wire.seals.lines(made)
        told |= made
        fresh = {owner: OwnerSecret(told[owner], lines[owner], owner not in made) for owner in unknown}
        self._keep(fresh)
        return found | fresh

    def keep(self, seals: Seals, lines: Mapping[str, bytes]) -> None:
        """Take over what the store told; a line that opens to no secret is asked for again, and refused then."""
        usable = {owner: one for owner, one in self._usable(seals, lines).items() if one}
        with self._lock:
            for owner in lines:
                self._kept.pop(owner, None)
        self._keep({owner: OwnerSecret(secret, lines[owner]) for owner, secret in usable.items()})

    def forget(self, owner: str) -> None:
        """Hold an owner's secret no more."""
        with self._lock:
            self._kept.pop(owner, None)

    @staticmethod
    def _usable(seals: Seals, lines: Mapping[str, bytes]) -> dict[str, bytes]:
        found = dict[str, bytes]()
        for owner, line in lines.items():
            try:
                found |= seals.secrets({owner: line})
            except StoreError:
                continue
        return found

    def _keep(self, held: Mapping[str, OwnerSecret]) -> None:
        with self._lock:
            for owner, one in held.items():
                self._kept[owner] = one
                self._kept.move_to_end(owner)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


PIECE = 1_000
"""Ids that are looked up at once."""
PROPOSE = Script(
    "propose a secret",
    """
-- KEYS: secrets, meta. ARGV: owner, its line. What lies open has 32 bytes, and does not come into a partition that is sealed.
local sealed = redis.call('HGET', KEYS[2], 'sealed')
if sealed and (sealed ~= '3' or #ARGV[2] == 32) then return -1 end
return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
""",
)


def read_naming(wire: Wire, keys: LogKeys, owner: str, proposed: bytes = b"") -> Naming:
    """By what ids are made of an owner's words; `proposed` becomes its secret where it has none.

    Whoever proposes at the same time is told the one that stands. Raises StoreError, StoreMismatch where the store was sealed since
    this process opened it.
    """
    lines = wire.seals.lines({owner: proposed}) if proposed else {}
    made = [wire.run(PROPOSE, [keys.secrets, keys.meta], [owner, line]) for line in lines.values()]
    if -1 in made:
        raise StoreMismatch(f"partition {{{keys.tag}}} {SEALED_SINCE}")
    line = wire.call("HGET", keys.secrets, owner)
    secret = b"" if line is None else wire.seals.secrets({owner: line})[owner]
    return Naming(owner, secret)


def read_seqs(wire: Wire, keys: LogKeys, owner: str, event_ids: Sequence[str]) -> dict[str, int]:
    """Where the log has those of these ids that dedupe has for the owner. Raises StoreError."""
    found: dict[str, int] = {}
    for start in range(0, len(event_ids), PIECE):
        buckets: dict[int, list[tuple[bytes, str]]] = {}
        for one in event_ids[start : start + PIECE]:
            field = dedupe_field(owner, UUID(one).bytes)
            buckets.setdefault(dedupe_bucket(field), []).append((field, one))
        answers = wire.answers(
            [["HMGET", keys.dedupe_of(at), *(field for field, _ in asked)] for at, asked in buckets.items()]
        )
        for asked, values in zip(buckets.values(), answers, strict=True):
            for (_, one), value in zip(asked, values, strict=True):
                seq = b"" if value is None else value[FINGERPRINT_BYTES:]
                if seq.isdigit():
                    found[one] = int(seq)
    return found


def secret_lines(wire: Wire, tag: str) -> Iterator[tuple[str, bytes]]:
    """Each owner of a partition that has a line, and the line. Raises StoreError."""
    cursor = b"0"
    while True:
        cursor, page = wire.call("HSCAN", LogKeys(tag).secrets, cursor, "COUNT", 1_000)
        yield from ((name.decode("utf-8", "replace"), line) for name, line in zip(page[::2], page[1::2], strict=True))
        if cursor == b"0":
            return


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
    write to Redis would make himself a key. Of one whose words were erased it is the skeleton (`events.envelope`); one
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
