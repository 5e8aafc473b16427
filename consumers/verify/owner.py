"""Everything stored of one owner against a new fold of its events: state, records, change log, sorted set, parks, quarantine, past.

The packed change log is read strictly: every byte must be one that a commit writes. Commits cannot be derived from the log, but
from the chunks they can: how chunks are laid into packs, and the names of packs, follow from their sizes and seqs.

Questions about the past leave an index of the change log, times and kept moments. They are compared with the change log and with
events that are read from the log and folded again, as each moment says. Records of one owner are in memory, one part at a time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, islice, pairwise
from typing import Any, NamedTuple

import msgspec

from engramlog_server.consumers.verify.encryption import Opening
from engramlog_server.consumers.verify.findings import (
    LIES_OPEN,
    MARK_BYTES,
    ExpectedKeys,
    Findings,
    mark,
    mark_of,
    shown,
)
from engramlog_server.events.cipher import VALUE_MARK, VALUES, ValueCipher, expanded
from engramlog_server.events.envelope import Stored
from engramlog_server.events.errors import DamagedState, LogGap
from engramlog_server.events.partitions import parse_position, position_text
from engramlog_server.events.redis.wire import PAGE, Argument, Wire, members, pairs
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.fold.changelog import FIRST_LINK, laid, link, pack, unpack
from engramlog_server.projections.fold.owner import OwnerState, decode_owner, encode_owner, fold_on
from engramlog_server.projections.fold.partition import WorkingOwner
from engramlog_server.projections.memory.record import Memory, decode_memory, encode_memory
from engramlog_server.projections.past.folding import OwnerEvents, blocks_of, events_of, to_fold
from engramlog_server.projections.past.moments import (
    KeptMoment,
    KeptPart,
    MomentsHead,
    NotKept,
    Start,
    is_alone,
    made_part,
    read_part,
    started,
)
from engramlog_server.projections.redis.builds import (
    CHANGES,
    BuildKeys,
    open_pack,
    open_record,
    open_synonyms,
    place,
    seal_chunk,
    seal_synonyms,
)
from engramlog_server.projections.redis.history import (
    ENTRIES,
    EVENTS,
    EntryHead,
    blocks,
    read_entry_head,
    read_head_of_events,
    read_moments_head,
    read_parts,
    read_stored_events,
    sum_of,
)
from engramlog_server.projections.redis.store import MOMENTS, encode_quarantine, lay, read_entries, read_owner, slices

_SIZE_BYTES = 4


class _KnownLog(NamedTuple):
    """What an owner's change log should hold."""

    marks: bytearray
    chain: bytes


@dataclass(slots=True)
class _PackedLog:
    """What an owner's packs hold."""

    seqs: list[int] = field(default_factory=list)
    entries: list[tuple[int, str]] = field(default_factory=list)
    """Seq and memory id of each entry."""
    marks: bytearray = field(default_factory=bytearray)
    chain: bytes = FIRST_LINK
    newest: int = 0
    """Name that the newest pack must have."""
    problems: list[str] = field(default_factory=list)
    """Names of packs, and bytes in them, that no commit writes."""


Take = Callable[[_PackedLog, int, bytes], bytes]
"""Adds a chunk, of which the first event has this number, to what was read; gives it as a commit writes it."""


def read_packs(
    packs: Sequence[tuple[bytes, bytes]],
    tail: bytes = b"",
    known: _KnownLog | None = None,
    sealing: tuple[ValueCipher | None, str] = (None, ""),
) -> _PackedLog:
    """The packs by name, and what is none yet. Raises ValueError or a MsgspecError where they cannot be read.

    `known`: what they should hold. Where each entry's bytes are those, none is decoded. `sealing`: what seals the chunks in a
    sealed store, and the owner they are of.
    """
    chunks = [
        chunk
        for raw in (*(raw for _, raw in sorted((int(name), raw) for name, raw in packs)), tail)
        for chunk in _chunks(raw)
    ]
    if known is not None:
        as_known = _PackedLog(chain=known.chain)
        with suppress(*_DAMAGED):  # reading it reports what is wrong
            as_laid = _laid(chunks, as_known, _sealed(_unread, *sealing))
            if as_known.marks == known.marks:
                return _told_owner(as_known, as_laid, packs, tail)
    log = _PackedLog()
    return _told_owner(log, _laid(chunks, log, _sealed(_read, *sealing)), packs, tail)


def opened_packs(
    owner: str, packs: Sequence[tuple[bytes, bytes]], cipher: ValueCipher | None
) -> Sequence[tuple[bytes, bytes]]:
    """Packs that can be read, with their chunks open."""
    return packs if cipher is None else [(name, open_pack(cipher, owner, raw)) for name, raw in packs]


def _sealed(take: Take, cipher: ValueCipher | None, owner: str) -> Take:
    """The same of sealed chunks. Raises NotOpened, a ValueError."""
    if cipher is None:
        return take
    where = place(CHANGES, owner)

    def taken(log: _PackedLog, first: int, chunk: bytes) -> bytes:
        stored = chunk[_SIZE_BYTES:]
        opened = cipher.open(where, stored)
        lies_open = opened == stored
        if lies_open:
            log.problems.append(f"the chunk of event {first} {LIES_OPEN}")
        found = laid(expanded(opened, VALUES))
        written = take(log, first, found)
        # Compressed bytes depend on zlib's version: a chunk that holds what a commit writes is taken as it is.
        return chunk if written == found and not lies_open else seal_chunk(cipher, owner, written)

    return taken


def _laid(chunks: Sequence[bytes], log: _PackedLog, take: Take) -> tuple[dict[int, bytes], bytes]:
    """The packs that commits make of these chunks, by name, and the tail."""
    expected, left = dict[int, bytes](), b""
    for chunk in chunks:
        left = _lay(expected, log, left, chunk, take)
    return expected, left


def _told_owner(
    log: _PackedLog, laid: tuple[dict[int, bytes], bytes], packs: Sequence[tuple[bytes, bytes]], tail: bytes
) -> _PackedLog:
    """With what is stored otherwise than it would be laid."""
    expected, left = laid
    found = dict(packs)
    for name in sorted({b"%d" % one for one in expected} | found.keys()):
        if found.get(name) != (expected.get(int(name)) if name == b"%d" % int(name) else None):
            log.problems.append(name.decode())
    if left != tail:
        log.problems.append("the tail")
    return log


def _chunks(raw: bytes) -> list[bytes]:
    chunks, at = [], 0
    while at < len(raw):
        end = at + _SIZE_BYTES + int.from_bytes(raw[at : at + _SIZE_BYTES], "big")
        if end > len(raw):
            raise ValueError(f"a chunk of {end - at} bytes where {len(raw) - at} are left")
        chunks.append(raw[at:end])
        at = end
    return chunks


def _lay(expected: dict[int, bytes], log: _PackedLog, tail: bytes, chunk: bytes, take: Take) -> bytes:
    """As a commit lays a chunk behind the tail (`projections.redis.store`); gives the tail after it."""
    first = len(log.seqs) + 1
    written = take(log, first, chunk)
    if len(log.seqs) < first:
        raise ValueError("a chunk without events")
    closes, left = lay(len(tail), len(written))
    if closes:
        expected[log.newest] = tail
    if left <= len(written):
        log.newest = first
    if not left:
        expected[first] = written
    return b"" if not left else written if closes else tail + written


def _read(log: _PackedLog, first: int, chunk: bytes) -> bytes:
    """Take a chunk, every entry read; gives it as a commit writes it."""
    seqs, entries = unpack(chunk)
    log.seqs += seqs
    for entry in entries:
        log.chain = link(log.chain, entry)
        log.marks += mark(entry)
        log.entries.append((entry.seq, entry.memory_id))
    return pack(first, seqs, entries)


def _unread(log: _PackedLog, first: int, chunk: bytes) -> bytes:
    """The same without decoding entries: only their marks are known."""
    steps, raws, _ = _UNREAD.decode(chunk[_SIZE_BYTES:])
    log.seqs += accumulate(steps)
    for raw in raws:
        log.marks += mark_of(raw)
    written: bytes = _WRITE.encode((steps, raws, first))
    return len(written).to_bytes(_SIZE_BYTES, "big") + written


_UNREAD = msgspec.msgpack.Decoder(tuple[tuple[int, ...], tuple[msgspec.Raw, ...], int])
_WRITE = msgspec.msgpack.Encoder()


_DAMAGED = (ValueError, msgspec.MsgspecError, OverflowError, TypeError, RecursionError)
"""What reading damaged bytes raises."""


TRIES = 50
"""How often an owner is read again that commits are about meanwhile."""
MOST_NAMED = 20
"""Positions or entries named in one difference."""


class _OwnerMark(NamedTuple):
    """What moves whenever a commit is about an owner, and how far the partition was folded then."""

    token: bytes | None
    quarantine: bytes | None
    parked: list[bytes]
    at: int


class StoredOwner(NamedTuple):
    """What is stored of an owner, all as of one moment."""

    standing: _OwnerMark
    records: dict[bytes, bytes]
    packs: list[tuple[bytes, bytes]]
    tail: bytes
    changed: dict[bytes, bytes]


def read_found(wire: Wire, keys: BuildKeys, name: str) -> StoredOwner | None:
    """What is stored of an owner; None where commits about it never stopped while it was read."""
    before = _standing(wire, keys, name)
    for _ in range(TRIES):
        records, packs = dict(pairs(wire, keys.records(name))), list(pairs(wire, keys.changelog(name)))
        tail, changed = wire.call("GET", keys.tail(name)) or b"", dict(members(wire, keys.changes(name)))
        after = _standing(wire, keys, name)
        if after[:3] == before[:3]:
            return StoredOwner(after, records, packs, tail, changed)
        before = after
    return None


def read_some(wire: Wire, keys: BuildKeys, names: Sequence[str]) -> list[StoredOwner | None]:
    """`read_found` of several in one exchange.

    None for one that has an index, or more than a page, or that was committed about or refused meanwhile: it is read by itself.
    """
    asked = [_asked(keys, name) for name in names]
    answers = iter(wire.pipeline([command for commands in asked for command in commands]))
    return [_found(list(islice(answers, len(commands)))) for commands in asked]


def _asked(keys: BuildKeys, name: str) -> list[list[Argument]]:
    return [
        ["EXISTS", keys.index(name), keys.moments(name)],
        *_standing_asked(keys, name),
        ["HSCAN", keys.records(name), 0, "COUNT", PAGE],
        ["HSCAN", keys.changelog(name), 0, "COUNT", PAGE],
        ["GET", keys.tail(name)],
        ["ZSCAN", keys.changes(name), 0, "COUNT", PAGE],
        *_standing_asked(keys, name),
    ]


def _found(answers: list[Any]) -> StoredOwner | None:
    if any(isinstance(answer, Exception) for answer in answers):
        return None
    indexed, *_, before, records, packs, tail, changed = answers[:11]
    after = answers[-1]
    if indexed or before[:3] != after[:3] or any(page[0] != b"0" for page in (records, packs, changed)):
        return None
    held, laid, scored = (list(zip(page[1][::2], page[1][1::2], strict=True)) for page in (records, packs, changed))
    return StoredOwner(_marked(after), dict(held), laid, tail or b"", dict(scored))


def _standing(wire: Wire, keys: BuildKeys, name: str) -> _OwnerMark:
    return _marked(wire.pipeline(_standing_asked(keys, name))[-1])


def _standing_asked(keys: BuildKeys, name: str) -> list[list[Argument]]:
    return [
        ["MULTI"],
        ["HGET", keys.owners, name],
        ["HGET", keys.quarantine, name],
        ["LRANGE", keys.parked(name), 0, -1],
        ["HGET", keys.checkpoint, "seq"],
        ["EXEC"],
    ]


def _marked(answer: list[Any]) -> _OwnerMark:
    token, quarantine, parked, seq = answer
    return _OwnerMark(token, quarantine, parked, int(seq or 0))


@dataclass(frozen=True, slots=True)
class OwnerComparison:
    """Compares one owner. The oracle is at the position at which `found` was read."""

    name: str
    mine: WorkingOwner
    kept: ExpectedKeys
    found: StoredOwner
    verdict: Findings
    cipher: ValueCipher | None = None
    """What seals and opens the owner's values in a sealed store."""

    def compare(self) -> bool:
        """Report differences; gives whether the change log can be read."""
        mine, found = self.mine, self.found
        self._compare_records()
        log = self._compare_log()
        self._compare_state(log)
        changed = {memory_id.encode(): b"%d" % version for memory_id, version in self.kept.changed.items()}
        if found.changed != changed:
            memories = sorted(shown(key) for key in _unequal(found.changed, changed))[:MOST_NAMED]
            self._differs("the versions at which memories changed last", memories=memories)
        if found.standing.parked != [b"%d" % seq for seq in self.kept.parked]:
            stored = [shown(seq) for seq in found.standing.parked[:MOST_NAMED]]
            self._differs("parked positions", stored=stored, folded=self.kept.parked[:MOST_NAMED])
        quarantine = None if mine.quarantine is None else encode_quarantine(mine.quarantine, self.cipher, self.name)
        if found.standing.quarantine != quarantine:
            self._differs("why an owner stands still", folded=mine.quarantine and mine.quarantine.reason)
        return log is not None

    def _differs(self, what: str, **where: Any) -> None:
        self.verdict.differs(what, owner=self.name, **where)

    def _compare_records(self) -> None:
        known = {memory_id.encode(): memory for memory_id, memory in self.mine.memories.items()}
        for raw_id in sorted(known.keys() | self.found.records.keys()):
            memory, stored = known.get(raw_id), self.found.records.get(raw_id)
            opened = partial(open_record, self.cipher, self.name, raw_id)
            sealed = self.cipher is not None
            if memory is None or stored is None or not _is_as_written(memory, stored, opened, sealed=sealed):
                self._differs("a memory", memory=shown(raw_id), fields=_fields_that_differ(memory, stored, opened))

    def _compare_log(self) -> _PackedLog | None:
        """Compare the packed change log entry by entry, every field; gives its contents, None if it cannot be read."""
        kept, found, chain = self.kept, self.found, self.mine.state.chain
        try:
            log = read_packs(found.packs, found.tail, _KnownLog(kept.marks, chain), (self.cipher, self.name))
        except _DAMAGED as error:
            self._differs("a change log that cannot be read", error=str(error))
            return None
        if log.chain != chain:
            self._differs("a change log that does not fit its chain", folded=chain.hex(), computed=log.chain.hex())
        if log.seqs != list(kept.applied):
            missing = sorted(set(log.seqs) ^ set(kept.applied))[:MOST_NAMED]
            positions = [position_text(self.verdict.partition, seq) for seq in missing]
            self._differs("positions neither applied nor parked", positions=positions)
        wrong = list(_entries_that_differ(log, kept, self.verdict.partition))
        if wrong or len(log.marks) != len(kept.marks):
            told = {"stored": len(log.entries), "folded": len(kept.marks) // MARK_BYTES}
            self._differs("entries of a change log", entries=wrong[:MOST_NAMED], **told)
        if log.problems:
            self._differs("packs of a change log, not as a commit writes them", packs=log.problems)
        return log

    def _compare_state(self, log: _PackedLog | None) -> None:
        """Compare the owner's state byte for byte, and report the field that differs."""
        token, cipher, name = self.found.standing.token, self.cipher, self.name
        try:
            state = decode_owner(token, open_synonyms(cipher, name)) if token else OwnerState()
        except _DAMAGED as error:
            self._differs("an owner's state that cannot be read", error=str(error))
            return
        expected = msgspec.structs.replace(self.mine.state, pack=log.newest if log else state.pack)
        if (token or encode_owner(OwnerState())) == encode_owner(expected, seal_synonyms(cipher, name)):
            return
        wrong = [field for field in expected.__struct_fields__ if getattr(state, field) != getattr(expected, field)]
        if "seq" in wrong:
            self._differs("an owner's last applied position", stored=state.seq, folded=expected.seq)
        if {"chain", "entries", "applied"} & set(wrong):
            told = {"stored": state.chain.hex(), "folded": expected.chain.hex()}
            self._differs("an owner's chain over its change log", **told)
        if not wrong:
            wrong = [LIES_OPEN if token == encode_owner(expected) else "not as a commit writes it"]
        self._differs("an owner's state", fields=wrong)


def _is_as_written(memory: Memory, stored: bytes, opened: Callable[[bytes], bytes], *, sealed: bool) -> bool:
    """Whether a stored record is what a commit writes; a sealed one by what it opens to: its bytes depend on zlib's version."""
    if not sealed:
        return stored == encode_memory(memory)
    try:
        return stored[:1] == VALUE_MARK and opened(stored) == encode_memory(memory)
    except DamagedState:
        return False


def _fields_that_differ(expected: Memory | None, raw: bytes | None, opened: Callable[[bytes], bytes]) -> list[str]:
    """Names of the fields in which a stored record differs, or what is wrong with it as a whole."""
    if expected is None:
        return ["not in the log"]
    if raw is None:
        return ["not stored"]
    try:
        plain = opened(raw)
        found = decode_memory(plain)
    except Exception:  # noqa: BLE001 - damaged bytes can fail in any way
        return ["cannot be read"]
    if plain == raw == encode_memory(expected):
        return [LIES_OPEN]
    names = [name for name in expected.__struct_fields__ if getattr(expected, name) != getattr(found, name)]
    return names or ["not as a commit writes it"]


def _entries_that_differ(log: _PackedLog, kept: ExpectedKeys, partition: int) -> Iterator[str]:
    if log.marks == kept.marks:
        return
    for number, (seq, memory_id) in enumerate(log.entries):
        at = slice(number * MARK_BYTES, (number + 1) * MARK_BYTES)
        if log.marks[at] != kept.marks[at]:
            yield f"{position_text(partition, seq)} {memory_id}".strip()


def _unequal(one: dict[bytes, bytes], other: dict[bytes, bytes]) -> Iterator[bytes]:
    return (key for key in one.keys() | other.keys() if one.get(key) != other.get(key))


Pairs = set[tuple[int, int]]
"""Sums of memory ids with names of packs."""


class StoredIndex(NamedTuple):
    """An owner's index."""

    head: EntryHead
    pairs: Pairs


def read_index(wire: Wire, keys: BuildKeys, owner: str, verdict: Findings) -> StoredIndex | None:
    """The index as it is stored; None if it cannot be read, which is reported."""
    fields = {shown(name) for name in wire.call("HKEYS", keys.index(owner))}
    try:
        head = read_entry_head(wire, keys, owner)
        pairs = {pair for block in blocks(wire, keys, owner, head) for pair in block.pairs()}
        events = read_head_of_events(wire, keys, owner).events
    except DamagedState as error:
        verdict.differs("an index of a change log that cannot be read", owner=owner, problem=error.message)
        return None
    known = {ENTRIES, *(f"{ENTRIES}:{number + 1}" for number in range(head.blocks))} if head.blocks else set[str]()
    known |= {EVENTS, *(f"{EVENTS}:{number}" for number in range(blocks_of(events)))} if events else set()
    if unknown := sorted(fields - known):
        cure = "engramlog rebuild"
        verdict.differs("unexpected fields of an index", owner=owner, fields=unknown[:20], cure=cure)
    return StoredIndex(head, pairs)


def compare_index(owner: str, stored: StoredIndex, packs: Sequence[tuple[bytes, bytes]], verdict: Findings) -> None:
    """Report if the index does not match its change log. `packs`: read after the index, and readable."""
    if not stored.head.blocks:
        return
    told = {int(name): {sum_of(entry.memory_id) for entry in unpack(raw)[1]} for name, raw in packs}
    names = sorted(told)
    noted = {(one, names[at]) for one, name in stored.pairs if (at := bisect_left(names, name)) < len(names)}
    last = bisect_left(names, stored.head.last)
    # The last pack may have grown since.
    whole = {(one, name) for name in names[:last] for one in told[name]}
    there = whole | {(one, name) for name in names[last : last + 1] for one in told[name]}
    if not whole <= noted <= there or last == len(names):
        verdict.differs("an index that does not tell what its change log holds", owner=owner)


READ = 500


class PastComparison:
    """Compares what questions left of one owner's past. The owner was folded up to where it was read, or further."""

    def __init__(
        self,
        wire: Wire,
        keys: BuildKeys,
        owner: str,
        mine: WorkingOwner,
        kept: ExpectedKeys,
        verdict: Findings,
        opening: Opening,
    ) -> None:
        self._opening = opening
        self._wire, self._keys, self._owner, self._mine, self._verdict = wire, keys, owner, mine, verdict
        self._applied = list(kept.applied)
        self._now = 0
        """How many events are applied by now: readers may have made something of those that came meanwhile."""

    def compare(self) -> None:
        """Events first: moments say by their numbers which of them they have."""
        wire, keys, owner = self._wire, self._keys, self._owner
        before = wire.call("HGET", keys.moments(owner), MOMENTS)
        try:
            head = read_moments_head(wire, keys, owner)
            events_head = read_head_of_events(wire, keys, owner)
            stored = read_stored_events(wire, keys, owner, events_head)
            raw = wire.call("HGET", keys.owners, owner)
            now = read_owner(keys, owner, raw) if raw else self._mine.state
        except DamagedState as error:
            self._verdict.differs("what was made of a past that cannot be read", owner=owner, problem=error.message)
            return
        self._now = now.applied
        if not events_head.events and head is None:
            return
        if head is not None and head.since > now.seq:
            self._verdict.differs("kept moments of more events than there are", owner=owner)
        try:
            true = events_of(self._read(self._applied), self._held)
        except ValueError:
            self._verdict.differs("an entry whose recorded time is no number", owner=self._owner)
            return
        self._compare_events(stored, true)
        if head is not None and head.since <= self._mine.state.seq:  # else perhaps a purge came that is not folded here
            found = list(self._differences(head, true))
            if wire.call("HGET", keys.moments(owner), MOMENTS) == before:  # else they were made or taken away meanwhile
                for what in found:
                    self._verdict.differs(what, owner=owner)

    def _compare_events(self, stored: OwnerEvents, true: OwnerEvents) -> None:
        many = min(len(stored), len(true))
        same = len(stored) <= self._now and all(
            (getattr(stored, name)[:many] == getattr(true, name)[:many]).all()
            for name in ("seqs", "happened", "recorded", "marks")
        )
        if not same:
            self._verdict.differs("an index of events that does not match the log", owner=self._owner)

    def _differences(self, head: MomentsHead, events: OwnerEvents) -> Iterator[str]:
        fields = set(self._wire.call("HKEYS", self._keys.moments(self._owner)))
        if fields != {MOMENTS.encode(), *(b"%d" % one.number for one in head.kept)}:
            yield "kept moments that no head tells of, or that are gone"
            return
        told, numbers = set[int](), [one.number for one in head.kept]
        if numbers != sorted(set(numbers)) or head.made < max(numbers, default=0):
            yield "kept moments that do not follow on each other"
        followed = {one.before for one in head.kept}
        try:
            for last in (one for one in head.kept if one.number not in followed):
                path = head.path(last.number)
                if path[-1].upto > self._now:
                    yield "kept moments of more events than there are"
                if path := [one for one in path if one.upto <= len(events)]:
                    yield from self._along(path, events, told)
        except (*UNREADABLE, ValueError, DamagedState) as error:
            yield f"kept moments that cannot be read: {error}"

    def _along(self, path: Sequence[KeptMoment], events: OwnerEvents, told: set[int]) -> Iterator[str]:
        """Fold once along a path; each moment is compared at its place; moments of earlier paths are skipped."""
        last = path[-1]
        fits = all(
            one.first == last.first and events.parting(one.happened, last.happened, one.upto, one.first) == one.upto
            for one in path
        )
        if not fits or any(one.upto >= two.upto for one, two in pairwise(path)):
            yield "kept moments that are not beginnings of each other"
            return
        try:
            yield from self._folded(path, events, told, self._start(path, told))
        except NotKept:  # what follows is about what is purged today
            yield from self._folded(path, events, told, started(None, ()))

    def _start(self, path: Sequence[KeptMoment], told: set[int]) -> Start:
        """Behind what another path was compared by: paths have long beginnings in common."""
        known = [one for one in path if one.number in told]
        raw = read_parts(self._wire, self._keys, self._owner, [one.number for one in known])
        return started(known[-1] if known else None, map(read_part, raw))

    def _folded(self, path: Sequence[KeptMoment], events: OwnerEvents, told: set[int], start: Start) -> Iterator[str]:
        last, state, memories, alone = path[-1], start.owner, start.memories, start.alone
        counting, at = to_fold(start, events, last.happened, last.upto, last.first), 0
        dropping = set(events.seqs[counting[events.dropping[counting]]].tolist())
        changed = dict[str, None]()
        purged = {one.id for one in self._mine.memories.values() if one.purged_at is not None}
        steps = fold_on(
            state,
            memories,
            self._read(events.seqs[counting].tolist()),
            lambda one, _event: one.seq in dropping,
            secret=self._mine.secret,
        )
        for moment in path:
            if moment.upto <= start.upto:
                continue
            while at < len(counting) and counting[at] < moment.upto:
                _, step = next(steps)
                state, at = step.owner, at + 1
                changed.update(dict.fromkeys(step.changed))
                alone = alone and is_alone(state)
            if moment.number not in told:
                told.add(moment.number)
                (raw,) = read_parts(self._wire, self._keys, self._owner, [moment.number])
                part = read_part(raw)
                if raw and self._opening.is_on and raw == self._stored(moment.number):
                    yield f"a kept moment that {LIES_OPEN}"
                if part != made_part(state, memories, changed, purged, alone) or len(raw or b"") != moment.size:
                    yield f"a kept moment that is not what the log folds into: {_told(part, state)}"
            changed = {}

    def _stored(self, number: int) -> bytes | None:
        """A moment's part as it is stored."""
        stored: bytes | None = self._wire.call("HGET", self._keys.moments(self._owner), number)
        return stored

    def _read(self, seqs: Sequence[int]) -> Iterator[Stored]:
        for some in slices(seqs, READ):
            yield from self._opening.read(self._keys, some)

    def _held(self, position: str) -> bool:
        partition, seq = parse_position(position)
        try:
            return partition == self._verdict.partition and (
                read_entries(self._wire, self._keys, [seq], sealed=True)[0].owner == self._owner
            )
        except LogGap:
            return False


def _told(part: KeptPart, state: OwnerState) -> str:
    """Which part of it differs."""
    return "its records" if part.owner == encode_owner(state) else "its owner's state"
