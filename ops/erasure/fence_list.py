"""The list of what was erased, kept outside Redis: a copy that is brought back is fenced by it again, before it answers.

It names nobody: an owner stands there by a label, a hash of its name under the store's id. Who knows the name finds it, and so
does who has the store. Of single memories it has, sealed under the owner's key, what goes. What it says, the log says too: in
events of `:erasures`, which name nobody either. Each host has a list; hosts complete theirs by the key store that they share.

At every opening the list is compared with the store: erased owners are fenced again, their keys deleted from the key store, and
words that came back are erased again. A store on one Redis comes back as a whole: its log then lacks what the list tells. Of a
Cluster one node alone may come back with an older copy, while the log of `:erasures` is on another: so each partition notes up to
which of the list it was looked through, after the fences, on the same node.
"""

from __future__ import annotations

import os
import socket
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

import msgspec

from engramlog_server.consumers.erasure import destroy_keys, fence, fence_names, wipe_entries
from engramlog_server.events.catalogue import ErasureGround, MemoryErased
from engramlog_server.events.cipher import BODY_MARK, VALUE_MARK, NotOpened, ValueCipher, salts_id
from engramlog_server.events.envelope import Event, derived_id, prepare
from engramlog_server.events.errors import KeyUnavailable, OwnerErased, StoreUnavailable
from engramlog_server.events.keys import KeyStore, Wiped, erased_name, erasure_of, has_words, is_name, is_tombstone
from engramlog_server.events.log import Appendable, AppendReceipt
from engramlog_server.events.partitions import (
    ERASURES,
    FENCED_META,
    LogKeys,
    label_of,
    parse_position,
    partition_of,
    position_text,
)
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.secrets import read_seqs, readmission, secret_lines
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.text import UNREADABLE
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS
from engramlog_server.ops.durable import FileFull, FileLock, NotPrivate, append_lines, read_private, store_file
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.fold.changelog import id_text
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.store import slices
from engramlog_server.projections.reports.erasure import Turn

MOST_BYTES = 64 * 1024 * 1024
"""The largest file that is read: some 300,000 erasures."""
_PLACE = b"fence list\0"
_ID = 16


_Step = Literal["began", "fenced", "ended", "readmitted"]
_STEPS: tuple[_Step, ...] = get_args(_Step)


class ErasureStep(msgspec.Struct, frozen=True):
    """A step of an erasure, as the list has it."""

    store: str
    erasure: str
    label: str
    step: _Step
    """`fenced`: of single memories alone; what goes with them is known then, and stands in `sealed`."""
    at: str
    """RFC 3339, UTC."""
    event: str
    """The id of its event under `:erasures`."""
    ground: ErasureGround = "other"
    reason: str = ""
    what: Literal["owner", "words"] = "owner"
    """Whether the owner is erased, or the words of some of its memories."""
    sealed: str = ""
    """The words that are erased, sealed under the owner's key, in base64; empty for an owner."""
    key: str = ""
    """The name of an erased owner's key, in hexadecimal digits."""
    salts: tuple[int, ...] = ()
    """The ids of the salts of entries whose words are erased."""


class WordsGoing(msgspec.Struct, frozen=True):
    """The entries that an erasure of single memories takes. As private as the owner's ids are."""

    named: tuple[str, ...]
    """Memories and turns, as they were named."""
    memories: tuple[str, ...] = ()
    """All that go, once that is known."""
    turns: tuple[Turn, ...] = ()
    events: bytes = b""
    """Ids of the events that lose their words, 16 bytes each; a line has those that no line before it has."""

    @property
    def event_ids(self) -> list[str]:
        """The same as texts."""
        return [id_text(self.events[at : at + _ID]) for at in range(0, len(self.events), _ID)]

    def seal(self, cipher: ValueCipher, owner: str) -> str:
        """As it stands in the list."""
        return b64encode(cipher.seal(_PLACE + owner.encode(), msgspec.json.encode(self))).decode()


_READ, _READ_GOING = msgspec.json.Decoder(ErasureStep), msgspec.json.Decoder(WordsGoing)


def list_path(settings: Settings, store_id: str) -> Path:
    """The file of a store's list on this machine."""
    return store_file(settings.data, "erasures.jsonl", None if settings.redis_url is None else store_id)


class FenceList:
    """The list of one store in its data folder. Several processes may append: each does under the file's lock."""

    def __init__(self, path: Path, store_id: str) -> None:
        self.path = path
        self.store_id = store_id

    @classmethod
    def of(cls, settings: Settings, store_id: str) -> FenceList:
        """The list of a store on this machine."""
        return cls(list_path(settings, store_id), store_id)

    def label(self, owner: str) -> str:
        """By what an owner stands there."""
        return label_of(self.store_id, owner)

    def read(self) -> list[ErasureStep]:
        """The steps that are about owners of this store, oldest first. Raises as `read_all`."""
        return [one for one in self.read_all() if one.what == "owner"]

    def read_words(self) -> list[ErasureStep]:
        """The steps that are about words of this store, oldest first. Raises as `read_all`."""
        return [one for one in self.read_all() if one.what == "words"]

    def read_all(self) -> list[ErasureStep]:
        """All steps of this store, oldest first; nothing if there is no file. Raises StoreUnavailable: a list that cannot be
        read fences nobody, and may not be passed over."""
        try:
            if not os.path.lexists(self.path):
                return []
            raw = read_private(self.path, MOST_BYTES)
        except NotPrivate as error:
            raise self._unusable(error.what) from error
        *whole, _torn = raw.split(b"\n")
        found = list[ErasureStep]()
        for number, line in enumerate(whole, 1):
            try:
                one = _READ.decode(line)
            except UNREADABLE as error:
                raise self._unusable(f"cannot be read at line {number}: {error}") from error
            if one.store == self.store_id:
                found.append(one)
        return sorted(found, key=lambda one: datetime.fromisoformat(one.at))  # what another host did may stand behind

    def append(self, one: ErasureStep) -> None:
        """Write a line, on disk when this returns. Raises StoreUnavailable."""
        line = msgspec.json.encode(one) + b"\n"
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.path):
                append_lines(self.path, line, MOST_BYTES, os.O_NOFOLLOW)
        except FileFull as full:
            raise self._unusable(f"is full: {full.size:,} of {MOST_BYTES:,} bytes") from None
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror}") from error

    def share(self, keys: KeyStore) -> None:
        """Complete this list by the one that several hosts share in the key store, and that one by this.

        Raises StoreUnavailable.
        """
        if (theirs := keys.erasures()) is None:
            return
        mine = set(self.read_all())
        try:
            told = {_READ.decode(line) for line in theirs}
        except UNREADABLE as error:
            raise StoreUnavailable(
                f"the list of erasures in the key store {keys.place} cannot be read: {error}"
            ) from error
        keys.add_erasures([msgspec.json.encode(one) for one in mine - told])
        lacking = told - mine
        for one in sorted(lacking, key=lambda one: (datetime.fromisoformat(one.at), _STEPS.index(one.step))):
            if one.store == self.store_id:
                self.append(one)

    def _unusable(self, what: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"the list of what was erased {what} ({self.path}); bring it back from where it was copied to: without it an owner"
            " who was erased could come back with an old copy of the store",
            file=str(self.path),
        )


def going_in(one: ErasureStep, cipher: ValueCipher, owner: str) -> WordsGoing | None:
    """What a line of the list says; None where it is of another owner, or of an owner's former key, or lies open: whoever can write
    to the list has no owner's key, and erases nothing by it."""
    try:
        raw = b64decode(one.sealed, validate=True)
        return _READ_GOING.decode(cipher.open(_PLACE + owner.encode(), raw)) if raw[:1] == VALUE_MARK else None
    except (*UNREADABLE, NotOpened, NotBase64, ValueError):
        return None


def going_by(
    lines: Iterable[ErasureStep], cipher: ValueCipher, owner: str
) -> dict[str, tuple[ErasureStep, WordsGoing]]:
    """Erasure -> its first line that is this owner's, and all that its lines say of what goes; oldest first."""
    found = dict[str, tuple[ErasureStep, WordsGoing]]()
    for one in lines:
        if (going := going_in(one, cipher, owner)) is None:
            continue
        if one.erasure not in found:
            found[one.erasure] = one, going
            continue
        first, known = found[one.erasure]
        memories = tuple(dict.fromkeys((*known.memories, *going.memories)))
        turns = tuple(dict.fromkeys((*known.turns, *going.turns)))
        found[one.erasure] = first, WordsGoing(going.named, memories, turns, known.events + going.events)
    return found


def open_erasures(listed: Iterable[ErasureStep]) -> Mapping[str, ErasureStep]:
    """Erasures that began and did not end, by their ids: of each owner the newest step alone counts."""
    newest = {one.label: one for one in listed}
    return {one.erasure: one for one in newest.values() if one.step == "began"}


ALARM = "erasure_left"
AT_ONCE = 1_000
_DIGITS = 16
Append = Callable[[Sequence[Appendable]], list[AppendReceipt]]


def came_back(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> Iterator[tuple[str, str, str]]:
    """Owners of the list whose erasure ended and who have a line, each with the partition's tag and the erasure: an older copy of
    the store came back, or somebody put the line back. Looks at the lines themselves, whatever the log says. Raises StoreError.
    """
    wanted = {one.label: one.erasure for one in listed if one.step == "ended"}
    for tag in tags if wanted else ():
        for owner, line in secret_lines(wire, tag):
            if is_tombstone(line) or (erasure := wanted.get(label_of(listed[0].store, owner))) is None:
                continue
            if not _readmitted(wire, tag, owner, erasure):
                yield tag, owner, erasure


def _returned_keys(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[bytes]:
    """Names of erased owners' keys that the key store has all the same: an older copy of it came back. Raises StoreError.

    Compares the key store with the list and with every tombstone of Redis.
    """
    names = {bytes.fromhex(one.key) for one in listed if one.key}
    for tag in tags:
        names.update(erased_name(line) for _, line in secret_lines(wire, tag) if is_tombstone(line))
    return list(wire.seals.keys.read([one for one in names if is_name(one)]))


def fence_again(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[str]:
    """Fence those who came back, and delete erased owners' keys that are in the key store again; the owners. Raises StoreError."""
    found = list[str]()
    destroy_keys(wire, _returned_keys(wire, tags, listed))
    for tag, owner, erasure in came_back(wire, tags, listed):
        fence(wire, tag, owner, erasure)
        found.append(owner)
    return found


def _readmitted(wire: Wire, tag: str, owner: str, erasure: str) -> bool:
    line = wire.call("HGET", LogKeys(tag).readmitted, owner)
    return line is not None and readmission(owner, line)[1] == erasure


def left_behind(wire: Wire, tags: Sequence[str], unended: Collection[str] = ()) -> list[str]:
    """Those of them of whom the live build has something, or the newest entry has its salt, or whose erasure is one of these.

    Raises StoreError.
    """
    found = list[str]()
    for tag in tags:
        keys = LogKeys(tag)
        live = BuildKeys(tag, (wire.call("HGET", keys.meta, "live") or b"").decode())
        for owner, line in secret_lines(wire, tag):
            if not is_tombstone(line):
                continue
            state, records, stuck, head = wire.answers(
                [
                    ["HEXISTS", live.owners, owner],
                    ["EXISTS", live.records(owner)],
                    ["HEXISTS", live.quarantine, owner],
                    ["HGET", keys.heads, owner],
                ]
            )
            seq = int(head or 0)
            newest = entries(wire.call("XRANGE", keys.stream, f"{seq}-0", f"{seq}-0"), tag) if seq else []
            salts = wire.seals.keys.salts([salts_id(one.body) for one in newest])
            if state or records or stuck or salts or erasure_of(line) in unended:
                found.append(owner)
    return found


def erased_event(owner: str, memory_id: str, erasure: str, at: datetime, reason: str) -> Event[MemoryErased]:
    """That a memory is erased: the same event whenever it is said again."""
    return Event[MemoryErased](
        event_id=derived_id("erase words", owner, erasure, memory_id),
        type=MemoryErased.__name__,
        owner=owner,
        occurred_at=at,
        actor="operator",
        data=MemoryErased(memory_id=memory_id, reason=reason, erasure=erasure),
    )


def lacks(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> set[str]:
    """Those events of the list that the log does not have: it is an older copy. Raises StoreError."""
    keys, events = LogKeys(tags[partition_of(ERASURES, len(tags))]), {one.event for one in listed}
    known = set[str]()
    for some in slices(sorted(events), AT_ONCE):
        known |= read_seqs(wire, keys, ERASURES, some).keys()
    return events - known


class WipedAgain(NamedTuple):
    """What came back, and was taken out again."""

    until: Mapping[int, int] = MappingProxyType({})
    """By partition up to where must be folded before anything is answered."""
    erasures: tuple[str, ...] = ()
    """Those whose end the log tells, though a node of the Cluster came back as it was before: they are to be done again."""


def wipe_again(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep], append: Append) -> WipedAgain:
    """Take those words of the list again out of a store whose log lacks something of it, or that lies on a Cluster of which a node
    came back. Raises StoreError, KeyUnavailable where it cannot be known whose they are."""
    # The newest line of each counts: what was certified again ended twice, and the log has one of both.
    if not (steps := {one.erasure: one for one in listed if one.step in ("fenced", "ended")}):
        return WipedAgain()
    # An older copy of the key store has words' salts again, though the log is of now.
    whole = wire.seals.keys.salts([one for step in listed for one in step.salts]).values()
    lacking = bool(lacks(wire, tags, list(steps.values()))) or any(map(has_words, whole))
    older = list(tags) if lacking else _unsearched(wire, tags, listed)
    until, back = dict[int, int](), list[str]()
    for tag, owner, cipher in owners_with(wire, older, listed[0].store, {one.label for one in steps.values()}):
        mine = [one for one in listed if one.erasure in steps and one.label == label_of(one.store, owner)]
        events = list[Event[MemoryErased]]()
        for one, going in going_by(mine, cipher, owner).values():
            fence_names(wire, tag, cipher.secret, going.memories, going.turns)
            seqs = _seqs(wire, tag, owner, going)
            had_words = wipe_entries(wire, tag, owner, seqs, Wiped(one.erasure, tags.index(tag), 0))
            at = datetime.fromisoformat(_began(listed, one))
            mine_again = [erased_event(owner, each, one.erasure, at, one.reason) for each in going.memories]
            there = read_seqs(wire, LogKeys(tag), owner, [each.event_id for each in mine_again])
            if not (lacking or had_words or len(there) < len(mine_again)):
                continue  # this node has all of it
            back += [] if lacking else [one.erasure]
            events += mine_again
        for some in slices(events, MAX_REQUEST_EVENTS):
            for receipt in append([prepare(one) for one in some]):
                if not receipt.written or receipt.position is None:
                    raise StoreUnavailable(
                        f"words that were erased came back, and could not be erased again: {receipt.error}"
                    )
                partition, seq = parse_position(receipt.position)
                until[partition] = max(until.get(partition, 0), seq)
    if wire.many:
        wire.answers([["HSET", LogKeys(tag).meta, _noted(), _mark(listed)] for tag in older])
    return WipedAgain(until, tuple(back))


def _unsearched(wire: Wire, tags: Sequence[str], listed: Sequence[ErasureStep]) -> list[str]:
    """The partitions of a Cluster that were not looked through for all that is listed; none of one server. Raises StoreError."""
    if not wire.many:
        return []
    found = wire.answers([["HGET", LogKeys(tag).meta, _noted()] for tag in tags])
    return [tag for tag, mark in zip(tags, found, strict=True) if mark != _mark(listed)]


def _noted() -> str:
    """How this machine notes that it looked for words: each machine has a list of its own."""
    return f"{FENCED_META}words:{sha256(socket.gethostname().encode()).hexdigest()[:_DIGITS]}"


def _mark(listed: Sequence[ErasureStep]) -> bytes:
    lines = sorted(f"{one.erasure} {one.step}" for one in listed)
    return sha256("\n".join(lines).encode()).hexdigest()[:_DIGITS].encode()


def _began(listed: Sequence[ErasureStep], one: ErasureStep) -> str:
    """When an erasure began, as its events tell it."""
    return next(step.at for step in listed if step.erasure == one.erasure and step.step in ("began", "fenced"))


def _seqs(wire: Wire, tag: str, owner: str, going: WordsGoing) -> list[int]:
    found = list[int]()
    for some in slices(going.event_ids, AT_ONCE):
        found += read_seqs(wire, LogKeys(tag), owner, some).values()
    return found


def owners_with(
    wire: Wire, tags: Sequence[str], store_id: str, labels: set[str]
) -> Iterator[tuple[str, str, ValueCipher]]:
    """Those owners whose labels these are: partition's tag, name, and what opens its values."""
    for tag in tags:
        for owner, line in secret_lines(wire, tag):
            if label_of(store_id, owner) in labels:
                found = wire.seals.ciphers({owner: line})[owner]
                if isinstance(found, OwnerErased):
                    continue
                if isinstance(found, KeyUnavailable):
                    raise found
                yield tag, owner, found


def without_keys(wire: Wire, tags: Sequence[str], also: Collection[str] = ()) -> list[str]:
    """Positions of newest entries, one of a partition, and of these others, that nothing in the key store opens, though they are
    not erased: the key store is an older copy than the log. Raises StoreError."""
    answers = wire.answers([["XREVRANGE", LogKeys(tag).stream, "+", "-", "COUNT", 1] for tag in tags])
    asked = [(tag, one) for tag, answer in zip(tags, answers, strict=True) for one in entries(answer, tag)]
    for position in also:
        with suppress(ValueError, IndexError):  # it is none of this store
            partition, seq = parse_position(position)
            answer = wire.call("XRANGE", LogKeys(tags[partition]).stream, f"{seq}-0", f"{seq}-0")
            asked += [(tags[partition], one) for one in entries(answer, tags[partition])]
    sealed = [(tag, one) for tag, one in asked if one.body[:1] == BODY_MARK]
    there, found = wire.seals.keys.salts([salts_id(one.body) for _, one in sealed]), dict[str, None]()
    for tag, one in sealed:
        if salts_id(one.body) not in there:
            keys = LogKeys(tag)
            line, again = wire.answers([["HGET", keys.secrets, one.owner], ["HGET", keys.readmitted, one.owner]])
            since = 0 if again is None else readmission(one.owner, again)[0]
            if line is not None and not is_tombstone(line) and one.seq > since:
                found[position_text(tags.index(tag), one.seq)] = None
    return list(found)
