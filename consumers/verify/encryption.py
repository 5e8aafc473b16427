"""Sealed stores: what opens each owner's values, and entries with open bodies. What does not open is reported, and left out.

Asked for once a batch: the lines of its owners, and the salts of its entries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from engramlog_server.consumers.verify.findings import LIES_OPEN, Findings, shown
from engramlog_server.events.catalogue import MemoryErased, TurnRecorded
from engramlog_server.events.cipher import BODY_MARK, SECRET_BYTES, ValueCipher, salts_id
from engramlog_server.events.envelope import Stored, decode, is_wordless
from engramlog_server.events.errors import DamagedState, KeyUnavailable, OwnerErased, StoreMismatch, UndecodableEvent
from engramlog_server.events.keys import has_words, read_wiped
from engramlog_server.events.partitions import LogKeys, position_text
from engramlog_server.events.redis.secrets import (
    as_shut,
    memory_mark,
    open_entry,
    opened_where_it_can_be,
    owner_mark,
    readmission,
    turn_mark,
    whole_number,
)
from engramlog_server.events.redis.wire import Wire, pairs
from engramlog_server.events.vocabulary import is_id
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.store import read_entries, slices

LINES_AT_ONCE = 1_000
_ERASED, _TURN = f"{MemoryErased.__name__}.", f"{TurnRecorded.__name__}."


class Opening:
    """Opens what is read of one partition. In an open store it only reads owners' secrets."""

    def __init__(self, wire: Wire, keys: LogKeys, verdict: Findings) -> None:
        self._wire, self._keys, self._verdict = wire, keys, verdict
        self.is_on = wire.seals.is_on
        self.locked = set[str]()
        """Owners whose keys are missing: reported, and not compared."""
        self.erased = set[str]()
        """Owners whose keys were destroyed: nothing of them may be stored besides the log."""
        self.erased_to = dict[str, int]()
        """Owners who were erased and readmitted -> the seq up to which nothing of them can be read."""
        self.shut = set[str]()
        """Both: of these nothing is folded."""
        if self.is_on:
            self._read_readmitted()
        self._gone: frozenset[bytes] | None = None
        self._told = 0
        """The seq up to which entries were reported: some are read again."""

    def _read_readmitted(self) -> None:
        for raw, line in pairs(self._wire, self._keys.readmitted):
            owner = shown(raw)
            try:
                self.erased_to[owner] = readmission(owner, line)[0]
            except StoreMismatch as error:
                self._verdict.differs("a readmission that nothing wrote", owner=owner, problem=error.message)

    def is_gone(self, one: Stored) -> bool:
        """Whether an entry is of an owner who was erased after it."""
        return one.owner in self.erased or one.seq <= self.erased_to.get(one.owner, 0)

    def ciphers(self, owners: Sequence[str]) -> dict[str, ValueCipher]:
        """What opens the values of each of these owners; nothing of who has no secret, or none that an append made."""
        held = self._wire.call("HMGET", self._keys.secrets, *owners) if owners else ()
        found = self._opened({one: line for one, line in zip(owners, held, strict=True) if line})
        return {owner: one for owner, one in found.items() if owner not in self.shut}

    def secrets(self, batch: Iterable[Stored]) -> dict[str, bytes]:
        """The secrets of a batch's owners, as far as they can be had."""
        found = self.ciphers(list(dict.fromkeys(one.owner for one in batch)))
        return {owner: one.secret for owner, one in found.items()}

    def look_at(self, lines: Mapping[str, bytes]) -> None:
        """Open these lines, and report those that do not open."""
        self._opened(lines)

    def _opened(self, lines: Mapping[str, bytes]) -> dict[str, ValueCipher]:
        usable = lines if self.is_on else {one: line for one, line in lines.items() if len(line) == SECRET_BYTES}
        found = dict[str, ValueCipher]()
        for owner, one in self._each(usable):
            if isinstance(one, ValueCipher):
                found[owner] = one
            elif isinstance(one, OwnerErased):
                self.erased.add(owner)
                self.shut.add(owner)
            elif owner not in self.locked:
                self.locked.add(owner)
                self.shut.add(owner)
                self._verdict.differs(
                    "an owner's key that cannot be had: nothing of it was compared, nor what is counted over all owners",
                    owner=owner,
                    problem=one.message,
                )
        return found

    def _each(self, lines: Mapping[str, bytes]) -> Iterator[tuple[str, ValueCipher | StoreMismatch | KeyUnavailable]]:
        """Each line opened; where one is of no append, which opening many at once does not survive, line by line."""
        seals = self._wire.seals
        try:
            yield from seals.ciphers(lines).items()
        except StoreMismatch:
            for owner, line in lines.items():
                try:
                    yield owner, seals.ciphers({owner: line})[owner]
                except StoreMismatch as error:
                    yield owner, error

    def batch(self, batch: Sequence[Stored]) -> list[Stored]:
        """Entries that follow on each other, open where they can be. Errors of sealing are reported once."""
        if not self.is_on or not batch:
            return list(batch)
        known = self.ciphers(list(dict.fromkeys(one.owner for one in batch)))
        salts, found = self._salts_of(batch), list[Stored]()
        for one in batch:
            cipher, mine = known.get(one.owner), salts.get(salts_id(one.body)) if one.body[:1] == BODY_MARK else None
            after, wrong = self._entry(one, cipher, mine)
            wrong = wrong or self._unfenced(after, cipher, is_wiped=mine is not None and not has_words(mine))
            found.append(after)
            if wrong and one.seq > self._told:
                position = position_text(self._verdict.partition, one.seq)
                self._verdict.differs(wrong, position=position, owner=one.owner)
        self._told = max(self._told, batch[-1].seq)
        return found

    def _salts_of(self, batch: Sequence[Stored]) -> dict[int, bytes]:
        return self._wire.seals.keys.salts([salts_id(one.body) for one in batch if one.body[:1] == BODY_MARK])

    def _entry(self, one: Stored, cipher: ValueCipher | None, salts: bytes | None) -> tuple[Stored, str]:
        """An entry, open where it can be, and the error in how it is sealed; empty if there is none."""
        if one.body[:1] != BODY_MARK:
            return as_shut(one), f"an entry that {LIES_OPEN}"
        wrong = ""
        if one.salt:
            wrong = "a sealed entry stored with the salt of its commitment"
        elif self.is_gone(one):
            wrong = "" if salts is None else "a salt of an owner who was erased"
        elif salts is None:
            wrong = "a sealed entry without its salt"
        if one.salt or self.is_gone(one) or salts is None:
            return one, wrong
        if cipher is None or not one.beside:
            return one, ""  # it was reported, or nothing could open it
        return self._body(one, cipher, salts)

    def _body(self, one: Stored, cipher: ValueCipher, salts: bytes) -> tuple[Stored, str]:
        """A sealed body opened: all of it, or the skeleton of one whose words were erased."""
        try:
            found = open_entry(self._wire, self._keys, one, cipher, salts)
        except DamagedState:
            return one, "a sealed body that does not open"
        wiped, wrong = read_wiped(salts), ""
        if wiped is not None and (wiped.partition, wiped.seq) != (self._verdict.partition, one.seq):
            wrong = "an entry that lost its words as another entry"
        elif wiped is not None and not _is_skeleton(found):
            wrong = "what is left of an erased entry and is no event without words"
        return found, wrong

    def _unfenced(self, one: Stored, cipher: ValueCipher | None, *, is_wiped: bool) -> str:
        """What is wrong where an entry tells that a memory or a turn was erased, and the door does not know of it; empty where
        nothing is."""
        is_told = one.kind.startswith(_ERASED) or (is_wiped and one.kind.startswith(_TURN))
        if cipher is None or not is_told or one.body[:1] == BODY_MARK:
            return ""
        if self._gone is None:
            self._gone = frozenset(self._wire.call("SMEMBERS", self._keys.gone))
        try:
            event = decode(one.kind, one.body)
        except UndecodableEvent:
            return ""
        if isinstance(event.data, TurnRecorded):
            what, mark = "turn", turn_mark(cipher.secret, event.data.turn_id, event.session_id)
        elif isinstance(event.data, MemoryErased):
            what, mark = "memory", memory_mark(cipher.secret, event.data.memory_id)
        else:
            return ""
        is_known = {mark, owner_mark(cipher.secret)} <= self._gone
        return "" if is_known else f"a {what} that was erased, and under whose id words are taken in again"

    def read(self, keys: BuildKeys, seqs: Sequence[int]) -> list[Stored]:
        """Entries at these seqs, open where they can be. Raises LogGap."""
        found = read_entries(self._wire, keys, seqs, sealed=True)
        if not self.is_on:
            return found
        known = self.ciphers(list(dict.fromkeys(one.owner for one in found)))
        return opened_where_it_can_be(self._wire, self._keys, found, known)


def compare_secrets(
    opening: Opening, secrets: Mapping[bytes, bytes], owners: Collection[str], verdict: Findings
) -> None:
    """Tell of secrets that nothing made. One that was changed shows in dedupe: its fingerprints are others.

    An owner without an event may have one: an import makes it before it derives ids, and may have ended there.
    """
    for some in slices(list(secrets.items()), LINES_AT_ONCE):
        lines = dict[str, bytes]()
        for raw, line in some:
            owner = shown(raw)
            if not (owner in owners or is_id(owner)) or (not opening.is_on and len(line) != SECRET_BYTES):
                verdict.differs("a secret that no append made", owner=owner, bytes=len(line))
            elif opening.is_on and len(line) == SECRET_BYTES:
                verdict.differs(f"a secret that {LIES_OPEN}", owner=owner)
            elif opening.is_on:
                lines[owner] = line
        opening.look_at(lines)


def compare_gone(wire: Wire, keys: LogKeys, verdict: Findings) -> None:
    """Report a wrong number of erased ids: appends rely on it."""
    many, told = 0, None
    for _ in range(2):  # one may be erased between the two answers
        many, told = wire.answers([["SCARD", keys.gone], ["HGET", keys.meta, "gone"]])
        if whole_number(told) == many:
            return
    verdict.differs("how many erased ids the door knows of", stored=whole_number(told), ids=many)


def _is_skeleton(one: Stored) -> bool:
    try:
        return is_wordless(decode(one.kind, one.body))
    except UndecodableEvent:
        return False
