"""The secret of each owner, which keys what is derived from its words. Made at its first event, by the append script alone.

Here they are only asked for and kept for a while. A secret proposed for a new owner is written by the script with the events it
keys; where another process was quicker the script writes nothing and tells the line that stands.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from engramlog_server.events.encryption.cipher import ValueCipher
from engramlog_server.events.encryption.seals import Seals, erased, is_tombstone
from engramlog_server.events.entry import FINGERPRINT_BYTES, SECRET_BYTES, Naming, dedupe_field
from engramlog_server.events.errors import KeyUnavailable, StoreError, StoreMismatch
from engramlog_server.events.partitions import LogKeys, dedupe_bucket, partition_of
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
