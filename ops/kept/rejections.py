"""Kept rejections: what a person rejected or took up again, written outside of the store without its words, and appended again.

Each line stands alone: an operator may remove the lines of an owner. A line holds digests, and the owner's line in the store: the
secret that keys them, or in a sealed store the name of its key. With digests and secret a guess can be confirmed, as with the
store itself: the file is as private as the store.

The file holds what this machine's processes appended, each before its receipt is returned, and never what is only in Redis: write
access to Redis alone puts nothing into the file. The log holds all that was kept if it has the event that was kept last. What a
restored store lacks is appended again.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple
from uuid import UUID

import msgspec

from engramlog_server.events.catalogue import ValueReadmitted, ValueRejected
from engramlog_server.events.cipher import SECRET_BYTES, ValueCipher
from engramlog_server.events.envelope import (
    DIGEST_BYTES,
    AnyEvent,
    Prepared,
    checked_principal,
    decode,
    derived_id,
    utc_text,
)
from engramlog_server.events.errors import EngramlogError, KeyUnavailable, LogGap, StoreError, StoreUnavailable
from engramlog_server.events.keys import NAME_BYTES
from engramlog_server.events.partitions import MAX_PARTITIONS, parse_position, partition_of, position_text
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.secrets import read_lines
from engramlog_server.events.standing import Speaker
from engramlog_server.events.text import UNREADABLE, many
from engramlog_server.events.validation import make_event
from engramlog_server.events.vocabulary import MAX_REQUEST_EVENTS, MOST_STATEMENTS
from engramlog_server.ops.durable import FileFull, FileLock, append_lines, file_state, replace_file, store_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from engramlog_server.events.alarms import Alarms
    from engramlog_server.events.keys import Seals
    from engramlog_server.events.log import Appendable, AppendReceipt
    from engramlog_server.events.redis.wire import Wire
    from engramlog_server.ops.settings import Settings


MOST_PROBLEMS = 10
"""Unreadable lines that are reported one by one; further ones are only counted."""
REASON = "said again: it was kept outside of the store, which lacked it"
"""The reason of an event that is appended again; the original reason is contents, and is not kept."""


class KeptValue(msgspec.Struct, frozen=True, tag="value", tag_field="kind", omit_defaults=True):
    """A `ValueRejected` or `ValueReadmitted` of the log: its position, and all that appending it again needs."""

    store: str
    partition: int
    seq: int
    event: str
    type: Literal["ValueRejected", "ValueReadmitted"]
    owner: str
    secret: str
    """The owner's line in the store, in hexadecimal digits: its secret, or in a sealed store the name of its key."""
    occurred_at: str
    actor: str
    principal: str
    values: tuple[str, ...]
    rules: int
    until: str | None = None
    turns: tuple[str, ...] = ()

    @property
    def again(self) -> str:
        """The id under which it is appended again, the same for every process. The original may still come, with its reason."""
        return derived_id("kept value", self.event)

    def data(self) -> ValueRejected | ValueReadmitted:
        """The data of the event that is appended again. Raises msgspec.ValidationError if no event can have it."""
        told = {"values": self.values, "rules": self.rules, "reason": REASON}
        if self.type == "ValueReadmitted":
            return msgspec.convert(told, ValueReadmitted)
        told |= {"turns": self.turns} | ({"until": self.until} if self.until else {})
        return msgspec.convert(told, ValueRejected)


class Level(msgspec.Struct, frozen=True, tag="level", tag_field="kind"):
    """All lines of a partition before this one were compared with the log, which had this event. `seq` 0: it had none of them."""

    store: str
    partition: int
    seq: int
    event: str


Line = KeptValue | Level
_READ = msgspec.json.Decoder(Line)
_WRITE = msgspec.json.Encoder()


class Anchor(NamedTuple):
    """An event of a partition. If the log has it, the log holds all that was kept before."""

    seq: int
    event: str


@dataclass(slots=True)
class ValueBook:
    """The kept rejections of one store."""

    store: str
    partitions: int
    kept: dict[str, KeptValue] = field(default_factory=dict)
    """Event id -> its line, in the order of the file."""
    anchors: dict[int, Anchor] = field(default_factory=dict)
    """Partition -> the last event since the last comparison."""
    levels: dict[int, int] = field(default_factory=dict)
    """Partition -> the seq of the last event that was appended again, if nothing was kept since."""
    foreign: int = 0
    """Lines of other stores."""
    bad: int = 0
    problems: list[str] = field(default_factory=list)
    """The first lines that cannot be read, or are invalid."""
    torn: int = 0
    """Bytes of an unfinished line at the end: its writer died."""

    @property
    def is_new(self) -> bool:
        """Whether the file is empty."""
        return not (self.kept or self.anchors or self.foreign or self.bad)

    def take(self, number: int, raw: bytes) -> None:
        """Read one line."""
        try:
            line = _READ.decode(raw)
            problem = _problem(line, self.partitions) if line.store == self.store else None
        except UNREADABLE as error:
            line, problem = None, f"cannot be read: {error}"
        if problem is not None or line is None:
            self.bad += 1
            if len(self.problems) < MOST_PROBLEMS:
                self.problems.append(f"line {number} {problem}")
        elif line.store != self.store:
            self.foreign += 1
        else:
            self.add(line)

    def add(self, line: Line) -> None:
        """Add one line of this store."""
        if isinstance(line, KeptValue):
            self.kept[line.event] = line
        anchor = self.anchors.get(line.partition)
        if isinstance(line, Level):
            self.levels[line.partition] = line.seq
        elif anchor is not None and line.seq <= anchor.seq:
            return
        else:
            self.levels.pop(line.partition, None)
        self.anchors[line.partition] = Anchor(line.seq, line.event)


def _problem(line: Line, partitions: int) -> str | None:
    """Why a line is invalid; None if it is not. Validation checks the event itself when it is appended again."""
    if not (0 <= line.partition < min(partitions, MAX_PARTITIONS) and line.seq >= 0):
        return "names a place that no log of this store has"
    if isinstance(line, Level):
        return None if not line.seq or _is_id(line.event) else "names an event by what is no id"
    if not _is_id(line.event):
        return "names an event by what is no id"
    if partition_of(line.owner, partitions) != line.partition:
        return "has an owner whose events lie in another partition"
    size = len(line.secret) // 2
    secret = size in (SECRET_BYTES, NAME_BYTES) and _is_hex(line.secret, size)
    values = all(_is_hex(one, DIGEST_BYTES) for one in line.values)
    if not (1 <= len(line.values) <= MOST_STATEMENTS and secret and values):
        return "has a secret or values that nothing made"
    return None


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _is_hex(text: str, size: int) -> bool:
    return len(text) == 2 * size and all(one in "0123456789abcdef" for one in text)


def _read_values(raw: bytes, store: str, partitions: int) -> ValueBook:
    """Read all lines of a file."""
    book = ValueBook(store, partitions)
    *whole, rest = raw.split(b"\n")
    for number, line in enumerate(whole, 1):
        book.take(number, line)
    book.torn = len(rest)
    return book


def _with_secret(raw: bytes, store: str, secrets: Mapping[str, str]) -> bytes | None:
    """A line of this store with another secret; None if there is none for its event, or the line cannot be read."""
    try:
        line = _READ.decode(raw)
    except UNREADABLE:
        return None
    told = secrets.get(line.event) if isinstance(line, KeptValue) and line.store == store else None
    return None if told is None else _WRITE.encode(msgspec.structs.replace(line, secret=told))


def _is_of(raw: bytes, store: str, owner: str, upto: int) -> bool:
    """Whether a line of this store keeps a rejection of this owner up to a seq, -1 for all; False if it cannot be read."""
    try:
        line = _READ.decode(raw)
    except UNREADABLE:
        return False
    mine = isinstance(line, KeptValue) and line.store == store and line.owner == owner
    return mine and (upto < 0 or line.seq <= upto)


def write_lines(lines: Iterable[Line]) -> bytes:
    """The lines as bytes, each with its line end."""
    return b"".join(_WRITE.encode(one) + b"\n" for one in lines)


def line_of(event: AnyEvent, store: str, place: tuple[int, int], secret: bytes, principal: str) -> KeptValue:
    """The kept line of an event at (partition, seq). `secret`: the owner's secret as in the store."""
    data: ValueRejected | ValueReadmitted = event.data
    gone = data if isinstance(data, ValueRejected) else None
    return KeptValue(
        store=store,
        partition=place[0],
        seq=place[1],
        event=event.event_id,
        type="ValueRejected" if gone else "ValueReadmitted",
        owner=event.owner,
        secret=secret.hex(),
        occurred_at=utc_text(event.occurred_at),
        actor=event.actor,
        principal=principal,
        values=data.values,
        rules=data.rules,
        until=utc_text(gone.until) if gone and gone.until is not None else None,
        turns=gone.turns if gone else (),
    )


def by_owner(lines: Iterable[KeptValue]) -> Iterator[tuple[str, list[KeptValue]]]:
    """Each owner with its lines in the order of the file."""
    found: dict[str, list[KeptValue]] = {}
    for one in lines:
        found.setdefault(one.owner, []).append(one)
    yield from found.items()


MOST_BYTES = 16 * 1024 * 1024
"""A larger file takes no more lines: 20,000 and more. No line is dropped, because each withholds a value."""


def values_path(settings: Settings, store_id: str) -> Path:
    """The file of a store's rejections on this machine."""
    one_store = settings.rejections is None and settings.redis_url is None
    return store_file(settings.rejections or settings.data, "rejections.jsonl", None if one_store else store_id)


class ValueFile:
    """The kept rejections of a store in its data folder. Several processes may append, under the file's lock."""

    def __init__(self, path: Path, store: str, partitions: int, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self.store = store
        self._partitions = partitions
        self._most = most_bytes
        self._known: tuple[int, int, int] | None = None
        self._book = ValueBook(store, partitions)

    def read(self) -> ValueBook:
        """The kept rejections, empty without a file. Raises StoreUnavailable if it cannot be read."""
        try:
            state = file_state(self.path)
            if state is None:
                self._book, self._known = ValueBook(self.store, self._partitions), None
            elif state != self._known:
                with self.path.open("rb") as file:
                    raw = file.read(2 * self._most)
                self._book, self._known = _read_values(raw, self.store, self._partitions), state
        except OSError as error:
            raise StoreUnavailable(f"kept rejections cannot be read: {error}", file=str(self.path)) from error
        return self._book

    def append(self, lines: Sequence[Line]) -> None:
        """Append lines that are new; on disk when this returns. Raises StoreUnavailable if the file or the disk is full."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.path):
                book = self.read()
                new = [one for one in lines if not isinstance(one, KeptValue) or one.event not in book.kept]
                if new:
                    append_lines(self.path, write_lines(new), self._most)
        except FileFull as full:
            text = (
                f"the file of kept rejections is full: {full.size:,} of {self._most:,} bytes; more are in the log alone"
            )
            raise StoreUnavailable(text, file=str(self.path)) from None
        except OSError as error:
            raise StoreUnavailable(f"rejections cannot be kept: {error}", file=str(self.path)) from error

    def rewrite(self, secrets: Mapping[str, str]) -> int:
        """Replace the secrets in the lines of these events; returns how many were changed. All else stays, byte for byte.

        Raises StoreUnavailable if the file cannot be written; it is unchanged then.
        """
        return self._rewritten(lambda line: _with_secret(line, self.store, secrets))

    def forget(self, owner: str, upto: int = -1) -> int:
        """Remove the lines of an erased owner, which hold the owner's secret; returns how many. `upto`: the last seq to remove, if
        the owner was readmitted; -1: all. Raises as `rewrite`."""
        if not self.path.exists():
            return 0
        return self._rewritten(lambda line: b"" if _is_of(line, self.store, owner, upto) else None)

    def _rewritten(self, anew: Callable[[bytes], bytes | None]) -> int:
        """Replace the file: for each line `anew` returns None to keep it, b"" to remove it, or another line."""
        try:
            with FileLock(self.path):
                raw, changed, kept = self.path.read_bytes(), 0, list[bytes]()
                *whole, rest = raw.split(b"\n")
                for line in whole:
                    found = anew(line)
                    changed += found is not None
                    kept += [line] if found is None else [found] if found else []
                replace_file(self.path, b"\n".join([*kept, rest]), locked=True)
                return changed
        except OSError as error:
            raise StoreUnavailable(f"kept rejections cannot be rewritten: {error}", file=str(self.path)) from error


def wrap_kept(wire: Wire, tags: Sequence[str], file: ValueFile) -> int:
    """Wrap the secrets of a file as the store does; returns how many lines changed. Raises StoreError, also KeyUnavailable.

    A line whose secret is not the owner's, or does not open, stays as it is."""
    kept = file.read().kept.values()
    if not wire.seals.is_on or not kept:
        return 0
    lines = read_lines(wire, tags, {one.owner for one in kept})
    behind = [one for one in kept if one.secret != lines.get(one.owner, b"").hex()]
    if not behind:
        return 0
    held, anew = wire.seals.ciphers(lines), dict[str, str]()
    for one in behind:
        secret = _opened_secret(wire.seals, one)
        if secret is None:
            continue
        cipher = held.get(one.owner)
        if isinstance(cipher, ValueCipher) and cipher.secret == secret:
            anew[one.event] = lines[one.owner].hex()
        elif len(one.secret) == 2 * SECRET_BYTES:  # of a history that the store lost: it must not stay open
            anew[one.event] = wire.seals.lines({one.owner: secret})[one.owner].hex()
    return file.rewrite(anew) if anew else 0


def _opened_secret(seals: Seals, one: KeptValue) -> bytes | None:
    """The secret of a kept line, unwrapped; None if it does not open.

    Raises KeyUnavailable if the master key cannot be reached now.
    """
    line = bytes.fromhex(one.secret)
    if len(line) == SECRET_BYTES:
        return line
    found = seals.ciphers({one.owner: line})[one.owner] if seals.is_on else None
    if isinstance(found, KeyUnavailable) and found.passes:
        raise found
    return found.secret if isinstance(found, ValueCipher) else None


NOT_KEPT = "rejections_not_kept"
RESTORED = "rejections_restored"
LOST = "rejections_lost"
MOST_WAITING = 1_000
"""Events of one process that wait for a disk that takes them; more are dropped, counted and reported."""
UNWRITTEN = "unwritten"
"""Subject of the alarm about what a process could not write."""
LOOK_SECONDS = 10.0
SHOWN = 5
"""Positions that an alarm names."""
_NAMES = (ValueRejected.__name__, ValueReadmitted.__name__)
_KINDS = tuple(f"{name}." for name in _NAMES)


def _is_value(event: Appendable) -> bool:
    """Whether an event rejects values, or readmits them."""
    return event.kind.startswith(_KINDS) if isinstance(event, Prepared) else event.type in _NAMES


class _Waiting(NamedTuple):
    """An event that is in the log, and not kept yet."""

    event: AnyEvent
    place: tuple[int, int]
    principal: str


class _Missing(NamedTuple):
    """Kept lines that are not in the log."""

    lines: list[KeptValue]
    found: dict[int, Anchor]
    """Partition -> the last kept event that is in the log."""


class ValueKeeper:
    """The kept rejections of one store, for one process. Safe for threads."""

    def __init__(self, log: RedisEventLog, again: Callable[[], RedisEventLog], file: ValueFile, alarms: Alarms) -> None:
        self.file = file
        self._log = log
        self._again = again
        """Makes the log that appends again. It has no receipts: whatever else a restored log lost, rejections must hold."""
        self._alarms = alarms
        self._waiting: list[_Waiting] = []
        self._lock = Lock()
        self.restored: str | None = None
        """A sentence about what was appended again; None if nothing was."""
        self._unclear = True
        """Whether an alarm about the file, of this or an earlier process, may be active."""
        self._unwritten = False
        """Whether our alarm about unwritten lines is active."""

    def keep(self, events: Sequence[Appendable], receipts: Sequence[AppendReceipt], principal: str) -> None:
        """Write those that are in the log to the file. If that fails, an alarm is raised, and it is tried again."""
        with self._lock:
            for event, receipt in zip(events, receipts, strict=True):
                if receipt.written and receipt.position and _is_value(event):
                    whole = decode(event.kind, event.body) if isinstance(event, Prepared) else event
                    self._waiting.append(_Waiting(whole, parse_position(receipt.position), principal))
            self._write_waiting()

    def look(self) -> dict[int, int]:
        """Append again what the log lacks; returns the newest seq of such events by partition, also of an earlier look: they may
        still have to be folded.

        Failures raise alarms, and no errors.
        """
        with self._lock:
            self._write_waiting()
            try:
                book = self.file.read()
                if book.is_new:
                    return {}
                if self._log.on_a_wire(lambda wire, tags: wrap_kept(wire, tags, self.file)):
                    book = self.file.read()
                said = self._look(book)
            except EngramlogError as error:
                if "file" in error.context:  # a store that does not answer is reported elsewhere
                    self._unclear = True
                    self._alarms.raised(NOT_KEPT, str(self.file.path), error.message)
                return {}
            if trouble := _trouble(book, str(self.file.path)):
                self._unclear = True
                self._alarms.raised(NOT_KEPT, str(self.file.path), trouble)
            elif self._unclear:
                self._unclear = False
                self._alarms.cleared(NOT_KEPT, str(self.file.path))
            return said

    def lacking(self, partitions: Sequence[int]) -> tuple[int, list[KeptValue]]:
        """The number of kept lines of these partitions, and the lines that the log lacks. Raises StoreError."""
        book = self.file.read()
        kept = [one for one in book.kept.values() if one.partition in partitions]
        return len(kept), self._missing(kept).lines

    def close(self) -> None:
        """Write what still waits for the disk."""
        with self._lock:
            self._write_waiting()

    def _write_waiting(self) -> None:
        """Write waiting lines; an alarm if that fails. It stays if the process ends before: those lines are only in the log."""
        if not self._waiting:
            return
        try:
            self._write()
        except EngramlogError as error:
            left = len(self._waiting) - MOST_WAITING
            more = f"; {left:,} wait no longer, and are in the log alone" if left > 0 else ""
            del self._waiting[MOST_WAITING:]
            self._unwritten = True
            self._alarms.raised(NOT_KEPT, UNWRITTEN, f"{error.message}{more}")
            return
        self._waiting.clear()
        if self._unwritten:
            self._unwritten = False
            self._alarms.cleared(NOT_KEPT, UNWRITTEN)

    def _write(self) -> None:
        secrets = self._log.secret_lines_of({one.event.owner for one in self._waiting})
        lines = [
            line_of(one.event, self.file.store, one.place, secrets.get(one.event.owner, b""), one.principal)
            for one in self._waiting
        ]
        self.file.append(lines)

    def _look(self, book: ValueBook) -> dict[int, int]:
        apart = [partition for partition, anchor in book.anchors.items() if not self._is_there(partition, anchor)]
        if not apart:
            return dict(book.levels)
        missing = self._missing([one for one in book.kept.values() if one.partition in apart])
        said, lost = self._say_again(missing.lines)
        for one, seq in said.items():
            anchor = missing.found.get(one.partition)
            if anchor is None or anchor.seq < seq:
                missing.found[one.partition] = Anchor(seq, one.again)
        newest = {partition: seq for partition, seq in book.levels.items() if partition not in apart}
        for one, seq in said.items():
            newest[one.partition] = max(seq, newest.get(one.partition, 0))
        levels: list[Line] = []
        for partition in apart:
            anchor = missing.found.get(partition, Anchor(0, ""))
            levels.append(Level(self.file.store, partition, anchor.seq, anchor.event))
        self._tell(said, lost)
        self.file.append(levels)
        return newest

    def _is_there(self, partition: int, anchor: Anchor) -> bool:
        if not anchor.seq:
            return True
        try:
            found = self._log.read_at(partition, [anchor.seq])
        except LogGap:
            return False
        return any(one.raw_id.hex() == anchor.event.replace("-", "") for one in found)

    def _missing(self, kept: Sequence[KeptValue]) -> _Missing:
        missing, found = list[KeptValue](), dict[int, Anchor]()
        for owner, lines in by_owner(kept):
            seqs = self._log.seqs_of(owner, [name for one in lines for name in (one.event, one.again)])
            for one in lines:
                there = [Anchor(seqs[name], name) for name in (one.event, one.again) if name in seqs]
                if not there:
                    missing.append(one)
                    continue
                known = found.get(one.partition)
                found[one.partition] = max([*there, *([known] if known else [])])
        return _Missing(missing, found)

    def _say_again(self, lines: Sequence[KeptValue]) -> tuple[dict[KeptValue, int], list[KeptValue]]:
        """Append missing lines with their principal and time; returns the seq of each, and the lines that could not be appended.

        Raises StoreError if the store takes no writes now.
        """
        ready: dict[str, list[tuple[KeptValue, AnyEvent]]] = {}
        lost: list[KeptValue] = []
        now = self._log.now()
        for owner, mine in by_owner(lines):
            secret = self._secret(owner, mine[-1])
            for one in mine:
                event = self._event(one, now) if self._opened(one) == secret else None
                if event is None or secret is None:
                    lost.append(one)
                else:
                    ready.setdefault(one.principal, []).append((one, event))
        return (self._append(ready) if ready else {}), lost

    def _append(self, ready: Mapping[str, list[tuple[KeptValue, AnyEvent]]]) -> dict[KeptValue, int]:
        """Append lines by principal; returns the seq of each."""
        said: dict[KeptValue, int] = {}
        try:
            with closing(self._again()) as log:
                for principal, pairs in ready.items():
                    for start in range(0, len(pairs), MAX_REQUEST_EVENTS):
                        part = pairs[start : start + MAX_REQUEST_EVENTS]
                        receipts = log.append([event for _, event in part], principal=principal)
                        for (one, _), receipt in zip(part, receipts, strict=True):
                            if not receipt.written or receipt.position is None:
                                raise StoreUnavailable(receipt.error or receipt.status)
                            said[one] = parse_position(receipt.position)[1]
        except StoreError as error:
            text = f"kept rejections could not be recorded again, so rejected statements may come back: {error.message}"
            raise StoreUnavailable(text, file=str(self.file.path)) from error
        return said

    def _secret(self, owner: str, last: KeptValue) -> bytes | None:
        """The secret that keys the owner's digests. An owner without one, in an older copy of the store, gets the kept secret.
        None if that does not open."""
        held = self._log.secrets_of([owner]).get(owner)
        if held is None and (told := self._opened(last)) is not None:
            held = self._log.adopt_secret(owner, told)
        return held

    def _opened(self, one: KeptValue) -> bytes | None:
        """The secret of a line; None if it does not open any more. Raises KeyUnavailable if the master key cannot be reached."""
        return _opened_secret(self._log.seals, one)

    @staticmethod
    def _event(one: KeptValue, now: int) -> AnyEvent | None:
        """The event; None if validation refuses it."""
        try:
            checked_principal(one.principal)
            return make_event(
                one.data(),
                owner=one.owner,
                occurred_at=datetime.fromisoformat(one.occurred_at),
                actor=one.actor,
                now=now,
                event_id=one.again,
                by=Speaker("terminal", one.principal),
            )
        except (EngramlogError, ValueError, msgspec.ValidationError):
            return None

    def _tell(self, said: Mapping[KeptValue, int], lost: Sequence[KeptValue]) -> None:
        path = self.file.path
        if said:
            text = (
                f"{_many(said)} kept in {path} {'was' if len(said) == 1 else 'were'} not in the log: the store came back as it was"
                f" before. Said again, with the times they had: {_places(said)}"
            )
            self.restored = text
            self._alarms.raised(RESTORED, "", text)
        if lost:
            text = (
                f"{_many(lost)} kept in {path} cannot be recorded again: the owner's secret changed, the"
                f" line does not open under the master key, or it contains an impossible event: {_places(lost)}. Rejected"
                " statements may come back: reject them again"
            )
            self._alarms.raised(LOST, "", text)


def _many(lines: Sequence[KeptValue] | Mapping[KeptValue, int]) -> str:
    owners = len({one.owner for one in lines})
    return f"{many(len(lines), 'rejection')} of {many(owners, 'owner')}"


def _places(lines: Sequence[KeptValue] | Mapping[KeptValue, int]) -> str:
    places = [position_text(one.partition, one.seq) for one in lines]
    return "once at " + ", ".join(places[:SHOWN]) + (" ..." if len(places) > SHOWN else "")


def _trouble(book: ValueBook, path: str) -> str:
    """Unusable lines of the file, in one sentence; empty if there are none."""
    told = []
    if book.bad:
        told.append(
            f"lines of {path} that cannot be used, next to others that can: {book.bad:,} ({'; '.join(book.problems)})"
        )
    if book.foreign:
        told.append(f"lines of {path} that are of another store, and were left alone: {book.foreign:,}")
    return ". ".join(told)


class KeepingLog(RedisEventLog):
    """The log of a store whose rejections are also written to a file, before their receipts are returned."""

    keeper: ValueKeeper | None = None

    def append(
        self,
        events: Sequence[Appendable],
        *,
        expected_heads: Mapping[str, int] | None = None,
        principal: str | None = None,
    ) -> list[AppendReceipt]:
        """See `EventLog.append`."""
        receipts = super().append(events, expected_heads=expected_heads, principal=principal)
        if self.keeper is not None and any(map(_is_value, events)):
            self.keeper.keep(events, receipts, principal or self.principal)
        return receipts
