"""Kept heads: the file of them and its copies, what a running store keeps, what a verification compares, what a rebuild refuses.

The chain is computed from the head that was kept, or met, last, over the entries since: a changed log that is folded again gives
the checkpoint another chain, and later events would hide that.

A file is appended to under a lock, bounded, and read together with the one that it follows. Copies are other files, and web
addresses that take each line as a POST. Only a copy that others hold proves anything: whatever can write the store can write the
data folder too.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from engramlog_server.events.alarms import LOG_CHANGED, Alarms
from engramlog_server.events.envelope import utc_text
from engramlog_server.events.errors import EngramlogError, InputError, LogGap, StoreMismatch, StoreUnavailable
from engramlog_server.events.heads import Head, HeadBook, copied_book, line_number, next_line, read_book, write_line
from engramlog_server.events.partitions import ACCEPTED_KEY, LogKeys, position_text
from engramlog_server.events.text import UNREADABLE
from engramlog_server.ops.clock import Every, now
from engramlog_server.ops.durable import FileLock, append_lines, file_state, new_file_beside, store_file, sync_path
from engramlog_server.projections.redis.create import (
    LiveHead,
    Unmet,
    chain_on,
    check_log,
    live_heads,
    still_stands,
    unmet_heads,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engramlog_server.consumers.verify.findings import Findings
    from engramlog_server.events.alarms import Alarms
    from engramlog_server.events.redis.wire import Wire
    from engramlog_server.ops.settings import Settings
    from engramlog_server.ops.store import OpenStore
    from engramlog_server.projections.redis.create import StoreIdentity


STOP_SECONDS = 1.0
WAIT_MS = 1_000
"""How long to wait for replicas before a head is kept; late ones have it at the next look."""
SECONDS = 10.0
"""How often heads that moved are written."""


class HeadKeeper:
    """Keeps the heads of a store, from a thread of its own until it is stopped."""

    def __init__(self, store: OpenStore, settings: Settings, *, sinks: bool = True) -> None:
        self._identity = store.identity
        self._wire: Wire = store.wire()
        self._alarms: Alarms = store.alarms
        self.file = HeadFile(heads_path(settings, store.identity.store_id))
        self._told = settings.head_sinks if sinks else ()
        restored = store.identity.restored
        self._is_copy = restored is not None and restored.stands
        """Whether nobody took the restored store over: its heads do not go to the sinks of the original, which may still run."""
        self._sinks = HeadSinks(() if self._is_copy else self._told, self.file, store.alarms)
        self._replicas = settings.min_replicas
        self._met: dict[int, Head] = {}
        """By partition the last head whose chain continues the kept one. It is not kept yet if replicas are late."""
        self._unsure = set(range(store.identity.partitions))
        """Partitions whose alarm may be active."""
        self._changed: list[str] = []
        self._every = Every(SECONDS, self.look_quietly, "heads", at_end=self._end)

    def start(self) -> None:
        """Look at once, and then every few seconds."""
        self._every.start()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Write what moved since the last look, and end; waits at most so many seconds."""
        self._every.stop(seconds)

    def close(self) -> None:
        """Close the connection of a keeper that was not started."""
        self._wire.close()

    def _end(self) -> None:
        self.look_quietly()
        self._wire.close()

    def look_quietly(self) -> None:
        """The same as `look`, with an alarm if heads cannot be kept; a store that does not answer is asked the next time."""
        try:
            self.look()
            self._alarms.cleared("head_sink_failed", str(self.file.path))
        except EngramlogError as error:
            self._met.clear()
            if "file" in error.context:
                self._alarms.raised("head_sink_failed", str(self.file.path), error.message)
            self._wire.close()

    def look(self) -> list[str]:
        """Compare every head with the one kept last, and write those that moved; returns the differences of the log.

        Raises StoreError.
        """
        self._changed = []
        if self._is_copy and not still_stands(self._wire):
            self._is_copy, self._sinks = False, HeadSinks(self._told, self.file, self._alarms)
        book = self.file.read()
        if book.stores - {self._identity.store_id}:
            text = f"{self.file.path} is about another store: put it away, or look for the store that it is about"
            self._change("kept heads", text)
            return self._changed
        if book.problems:
            self._change("kept heads", f"{self.file.path}: {book.problems[0]}")
        else:
            self._alarms.cleared(LOG_CHANGED, "kept heads")
        live = live_heads(self._wire, self._identity.tags)
        moved = []
        for partition, now_at in enumerate(live):
            if self._is_met(partition, now_at, book):
                head = self._met[partition] = Head(partition, now_at.seq, now_at.chain)
                newest = book.newest(partition)
                if head.seq > (newest.seq if newest else 0):
                    moved.append(head)
        if moved := self._proved(moved):
            self.file.append(utc_text(now()), self._identity.store_id, moved)
        self._sinks.flush()
        return self._changed

    def _proved(self, moved: list[Head]) -> list[Head]:
        """The heads that enough replicas have: a head that a failover may lose is kept later. Raises StoreError."""
        if not self._replicas or not moved:
            return moved
        keys, generation = [LogKeys(self._identity.tags[head.partition]).meta for head in moved], self._wire.generation
        # A small write each, which the wait covers, and with it all that was written there before.
        written = self._wire.pipeline(
            [["HSET", key, "proved", head.seq] for key, head in zip(keys, moved, strict=True)]
        )
        told = self._wire.about(keys, [["WAIT", self._replicas, WAIT_MS]])
        if self._wire.generation != generation:
            return []
        return [
            head
            for head, put, (*replicas,) in zip(moved, written, told, strict=True)
            if not isinstance(put, Exception) and replicas and _count(replicas[0]) >= self._replicas
        ]

    def _change(self, subject: str, text: str) -> None:
        self._changed.append(text)
        self._alarms.raised(LOG_CHANGED, subject, text)

    def _is_met(self, partition: int, live: LiveHead, book: HeadBook) -> bool:
        """Whether the log continues the head kept last; an alarm if it does not."""
        kept, subject, met = book.newest(partition), f"partition {partition}", self._met.pop(partition, None)
        problem = None
        if kept is not None and live.appended < kept.seq:
            problem = f"a kept head reaches {partition}:{kept.seq}, the log ends at {live.appended}"
        elif kept is not None and live.seq < kept.seq:
            return False  # it is being folded again: the result is compared after that
        elif kept is not None:
            problem = self._unmet(partition, live, met if met is not None and kept.seq <= met.seq <= live.seq else kept)
        if problem is not None:
            self._unsure.add(partition)
            self._change(subject, problem)
        elif partition in self._unsure:
            self._unsure.discard(partition)
            self._alarms.cleared(LOG_CHANGED, subject)
        return problem is None

    def _unmet(self, partition: int, live: LiveHead, kept: Head) -> str | None:
        try:
            found = chain_on(self._wire, self._identity.tags[partition], kept, live.seq)
        except LogGap:
            found = None
        if found == live.chain:
            return None
        return (
            f"the log's chain at {partition}:{live.seq} does not carry on from the head kept at {partition}:{kept.seq}"
        )


def _count(answer: object) -> int:
    """The number of replicas that WAIT returned; 0 if it was refused."""
    return answer if isinstance(answer, int) else 0


class HasLog(Protocol):
    """A store whose log can be read."""

    @property
    def identity(self) -> StoreIdentity:
        """What was fixed when it was created."""

    def wire(self) -> Wire:
        """A new connection."""


REBUILT_CURE = (
    "look at `engramlog verify`, restore a copy, or record why it is accepted with --accept-changed-log REASON"
)


class LogChanged(StoreMismatch):
    """The log differs from the heads that were kept of it."""

    status = 409


class Against:
    """Compares the log of a store with files of kept heads."""

    def __init__(self, store: OpenStore, books: Mapping[str, HeadBook]) -> None:
        self._store = store
        self._books = dict(books)
        self._checked = 0

    def seqs(self, partition: int) -> list[int]:
        """Seqs of a partition at which the chain is compared."""
        return sorted({seq for book in self._books.values() for seq in book.expected.get(partition, ())})

    def compare(self, verdict: Findings) -> None:
        """Report the kept heads of the verdict's partition that differ from its chains."""
        for name, book in self._books.items():
            expected = book.expected.get(verdict.partition, {})
            self._checked += len(expected)
            for unmet in unmet_heads(verdict.partition, expected, verdict.chains):
                position = position_text(unmet.partition, unmet.seq)
                told = {
                    "position": position,
                    "kept": unmet.kept,
                    "found": unmet.found,
                    "line": unmet.line,
                    "file": name,
                }
                restored = self._store.identity.restored
                if restored is not None and unmet.seq > restored.heads[unmet.partition]:
                    told["restored"] = (
                        f"up to {restored.heads[unmet.partition]} alone: the original went on without this store"
                    )
                verdict.differs("the log does not meet a kept head", **told)

    def compare_files(self, verdict: Findings) -> None:
        """Report files that contradict themselves, or are about another store."""
        for name, book in self._books.items():
            for problem in book.problems:
                verdict.differs("a file of kept heads that contradicts itself", file=name, problem=problem)
            for store in sorted(book.stores - {self._store.identity.store_id}):
                verdict.differs("kept heads of another store", file=name, store=store)

    def told(self) -> dict[str, Any]:
        """How much was compared, JSON-ready."""
        return {"files": {name: book.lines for name, book in self._books.items()}, "compared": self._checked}

    def accepted(self) -> list[dict[str, Any]]:
        """Every accepted change of the log, from the store and the files."""
        found: dict[tuple[int, int, str], dict[str, Any]] = {}
        with closing(self._store.wire()) as wire:
            raws = wire.call("HVALS", ACCEPTED_KEY)
        for raw in raws:
            try:
                one = msgspec.json.decode(raw, type=dict[str, Any])
                found[one["partition"], one["seq"], one["at"]] = one
            except (*UNREADABLE, KeyError):
                continue  # reported as a difference of the store
        for book in self._books.values():
            for line in book.accepted:
                for head in line.heads:
                    one = _accepted(head, line.at, line.reason)
                    found.setdefault((head.partition, head.seq, line.at), one)
        return [found[key] for key in sorted(found)]


def compare_receipts(store: OpenStore, partitions: Sequence[int], verdict: Findings) -> int:
    """Report acknowledged events of this data folder that the log no longer holds; returns how many were compared."""
    file = store.receipts.file
    try:
        kept = [(partition, one) for partition, one in sorted(file.read().items()) if partition in partitions]
    except StoreUnavailable as error:
        verdict.differs("a file of kept receipts that cannot be read", file=str(file.path), problem=error.message)
        return 0
    for partition, one in kept:
        if not any(there.raw_id == one.raw_id for there in store.log.read_at(partition, [one.seq])):
            told = {"position": position_text(partition, one.seq), "event_id": str(UUID(bytes=one.raw_id))}
            verdict.differs("an event that was acknowledged is not in the log", **told, file=str(file.path))
    return len(kept)


def compare_values(store: OpenStore, partitions: Sequence[int], verdict: Findings) -> int:
    """Report kept rejections that the log lacks, and unusable lines; returns how many were compared."""
    path = str(store.values.file.path)
    try:
        many, lacking = store.values.lacking(partitions)
        problems = store.values.file.read().problems
    except StoreUnavailable as error:
        verdict.differs("a file of kept rejections that cannot be read", file=path, problem=error.message)
        return 0
    for one in lacking:
        told = {"position": position_text(one.partition, one.seq), "event_id": one.event}
        verdict.differs("a rejection that was kept is not in the log", **told, owner=one.owner, file=path)
    for problem in problems:
        verdict.differs("a file of kept rejections that cannot be read", file=path, problem=problem)
    return many


def _accepted(head: Head, at: str, reason: str) -> dict[str, Any]:
    return {"partition": head.partition, "seq": head.seq, "at": at, "reason": reason, "found": head.chain or None}


def _unmet(store: HasLog, book: HeadBook, partitions: Sequence[int]) -> dict[int, Unmet]:
    """The first kept head of each partition that differs from its log."""
    wire, found = store.wire(), {}
    try:
        for number in partitions:
            unmet = check_log(wire, number, store.identity.tags[number], book.expected.get(number, {}))
            if unmet:
                found[number] = unmet[0]
    finally:
        wire.close()
    return found


def _read(store: HasLog, file: HeadFile) -> HeadBook:
    book = file.read()
    cure = f"put {file.path} away yourself if that is meant"
    if book.stores - {store.identity.store_id}:
        raise LogChanged(f"the heads in {file.path} are of another store; {cure}", file=str(file.path))
    if book.problems:
        raise LogChanged(f"{file.path} contradicts itself ({book.problems[0]}); {cure}", file=str(file.path))
    return book


def unmet_of(store: HasLog, file: HeadFile, partitions: Sequence[int]) -> list[Unmet]:
    """The first kept head of each of these partitions that differs from its log. Raises LogChanged, StoreError."""
    return list(_unmet(store, _read(store, file), partitions).values())


def refuse_changed_log(store: HasLog, file: HeadFile, partitions: Sequence[int], cure: str = REBUILT_CURE) -> None:
    """Raises LogChanged if the log differs from the kept heads of these partitions; `cure`: what to do then."""
    unmet = _unmet(store, _read(store, file), partitions)
    if unmet:
        first = next(iter(unmet.values()))
        raise LogChanged(
            f"{first.text}; the log was changed since, and a rebuild would fold the change in: {cure}",
            partitions=sorted(unmet),
        )


def accept_changed_log(
    store: OpenStore, file: HeadFile, partitions: Sequence[int], reason: str, at: datetime
) -> list[dict[str, Any]]:
    """Record in the file of kept heads and in the store that the log is accepted as it is; returns what was recorded."""
    unmet = _unmet(store, _read(store, file), partitions)
    if not unmet:
        return []
    heads = [Head(one.partition, one.seq, one.found or "") for one in unmet.values()]
    file.append(utc_text(at), store.identity.store_id, heads, "accepted", reason)
    told = [_accepted(head, utc_text(at), reason) for head in heads]
    with closing(store.wire()) as wire:
        for one in told:
            field = f"{position_text(one['partition'], one['seq'])} {one['at']}"
            wire.call("HSETNX", ACCEPTED_KEY, field, msgspec.json.encode(one))
    for number in unmet:
        store.alarms.cleared(LOG_CHANGED, f"partition {number}")
    return told


def keep_quietly(store: OpenStore, settings: Settings) -> None:
    """Write the heads that moved, at the end of a command that appended; a failure is an alarm and does not fail the command.

    Sinks are left to `up` and `keep_now`: a command should not wait for an address.
    """
    with closing(HeadKeeper(store, settings, sinks=False)) as keeper:
        keeper.look_quietly()


def keep_now(store: OpenStore, settings: Settings) -> None:
    """Write the heads that moved. Raises StoreError, also LogChanged."""
    with closing(HeadKeeper(store, settings)) as keeper:
        changed = keeper.look()
    if changed:
        raise LogChanged(changed[0])


MOST_BYTES = 8 * 1024 * 1024
"""A larger file is renamed to `.1`, which replaces the earlier `.1`; the next file begins with every kept head."""
MOST_READ = 64 * 1024 * 1024
"""The most bytes of a file that a user names."""


def heads_path(settings: Settings, store_id: str) -> Path:
    """The file of a store's heads on this machine."""
    return store_file(settings.data, "heads.jsonl", None if settings.redis_url is None else store_id)


class HeadFile:
    """The kept heads of a store in its data folder. Several processes may append, under the file's lock."""

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self._most = most_bytes
        self._known: tuple[int, int, int] | None = None
        self._book = HeadBook()

    def read(self) -> HeadBook:
        """The kept heads, with those of the earlier file. Raises StoreUnavailable if they cannot be read."""
        try:
            state = file_state(self.path)
            if state is None or state != self._known:
                raw = b"".join(one.read_bytes() for one in (aside(self.path), self.path) if one.exists())
                self._book, self._known = read_book(raw), state
        except OSError as error:
            raise StoreUnavailable(f"the kept heads cannot be read: {error}", file=str(self.path)) from error
        return self._book

    def lines_after(self, number: int, most: int) -> list[tuple[int, bytes]]:
        """At most so many whole lines with a greater number, with their numbers. Raises OSError."""
        found: list[tuple[int, bytes]] = []
        for path in (self.path, aside(self.path)):
            for raw in reversed(path.read_bytes().split(b"\n")[:-1] if path.exists() else []):
                at = line_number(raw)
                if 0 < at <= number:
                    return found[::-1][:most]
                if at:
                    found.append((at, raw + b"\n"))
        return found[::-1][:most]

    def append(
        self, at: str, store: str, heads: Iterable[Head], kind: Literal["heads", "accepted"] = "heads", reason: str = ""
    ) -> bytes:
        """Append one line, on disk when this returns, and return it. A new file begins with every kept head.

        Raises StoreUnavailable if the disk refuses.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.path):
                if self.path.exists() and self.path.stat().st_size > self._most:
                    self._turn_over(at, store)
                book = self.read()
                line = write_line(next_line(book, at, store, heads, kind, reason))
                append_lines(self.path, line)
                book.take(line.rstrip(b"\n"))  # known without reading it again
                book.torn = 0
                self._known = file_state(self.path)
        except OSError as error:
            raise StoreUnavailable(f"heads cannot be kept: {error}", file=str(self.path)) from error
        return line

    def _turn_over(self, at: str, store: str) -> None:
        """Rename the file; the next begins with every kept head, so that none is lost with the file that is replaced."""
        book = self.read()
        if book.torn:
            os.truncate(self.path, max(self.path.stat().st_size - book.torn, 0))
        newest = [head for partition in sorted(book.expected) if (head := book.newest(partition)) is not None]
        line = write_line(next_line(book, at, store, newest))
        with new_file_beside(self.path, line, locked=True) as fresh:  # it is there before the old one leaves its name
            self.path.replace(aside(self.path))
            fresh.replace(self.path)
        sync_path(self.path.parent)
        self._known = None


def aside(path: Path) -> Path:
    """The earlier file, which this one continues."""
    return path.with_name(f"{path.name}.1")


def read_copy(path: Path) -> HeadBook:
    """A user's file of heads. Raises InputError if it cannot be read or holds none."""
    try:
        if path.stat().st_size > MOST_READ:
            raise InputError(f"against: {path} is larger than {MOST_READ:,} bytes", field="against", got=str(path))
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"against: {path} cannot be read: {error}", field="against", got=str(path)) from error
    return copied_book(raw, "against", str(path))


POST_SECONDS = 5.0
"""How long one address may take for one line."""
MOST_AT_ONCE = 1_000
"""Lines given to a sink at once; the rest follows at the next flush."""
BEGINS = b'{"n":'
"""The first bytes of every line."""
END_BYTES = 1024 * 1024
"""Bytes read from the end of a file; a line takes at most a tenth of them."""


class NoSink(ValueError):
    """A file that lines must not be appended to."""


class HeadSinks:
    """Gives every sink the lines that it lacks, in order. A file shows which; an address gets the lines of this run."""

    def __init__(self, targets: Sequence[str], kept: HeadFile, alarms: Alarms) -> None:
        self._kept = kept
        self._alarms = alarms
        self._sent: dict[str, int | None] = dict.fromkeys(targets)

    def flush(self) -> None:
        """Send all lines to every sink. A failure raises an alarm, and is tried again at the next call."""
        for target, sent in self._sent.items():
            try:
                self._sent[target] = self._flush(target, sent)
                self._alarms.cleared("head_sink_failed", shown(target))
            except (OSError, ValueError) as error:
                self._alarms.raised("head_sink_failed", shown(target), f"{type(error).__name__}: {_reason(error)}")

    def _flush(self, target: str, sent: int | None) -> int:
        book = self._kept.read()
        newest = 0 if book.last is None else book.last.n
        if not is_address(target):
            path = Path(target).expanduser()
            sent = _last_number(path)
            lines = self._kept.lines_after(sent, MOST_AT_ONCE) if sent < newest else []
            _append(path, b"".join(raw for _, raw in lines))
            return lines[-1][0] if lines else sent
        if sent is None:
            sent = max(newest - 1, 0)
        for number, raw in self._kept.lines_after(sent, MOST_AT_ONCE) if sent < newest else ():
            _post(target, raw)
            self._sent[target] = sent = number
        return sent


def is_address(target: str) -> bool:
    """Whether a sink is a web address, and not a file."""
    return target.startswith(("http://", "https://"))


def shown(target: str) -> str:
    """A sink for messages: an address without parts that may be secret."""
    if not is_address(target):
        return target
    parts = urlsplit(target)
    return f"{parts.scheme}://{parts.hostname or ''}"


def _reason(error: Exception) -> str:
    if isinstance(error, NoSink):
        return str(error)
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__


def _last_number(path: Path) -> int:
    """The number of the last whole line of a file; 0 if there is none. Reads only its end, because a sink only grows."""
    if not path.exists():
        return 0
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - END_BYTES, 0))
        ends = file.read().split(b"\n")[:-1]
    return next((number for raw in reversed(ends) if (number := line_number(raw))), 0)


def _append(path: Path, lines: bytes) -> None:
    if not lines:
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        end = os.pread(descriptor, END_BYTES, max(size - END_BYTES, 0))
        torn = end[end.rfind(b"\n") + 1 :]
        if torn[: len(BEGINS)] != BEGINS[: len(torn)]:
            raise NoSink("the file holds something else than kept heads; nothing was written to it")
        size -= len(torn)  # what a dying writer left is no line
        os.ftruncate(descriptor, size)
        os.pwrite(descriptor, lines, size)
        os.fsync(descriptor)
    finally:
        with suppress(OSError):
            os.close(descriptor)


def _post(address: str, line: bytes) -> None:
    from urllib.request import Request, urlopen  # noqa: PLC0415 - who has no address of a sink needs none

    request = Request(address, data=line.rstrip(b"\n"), headers={"Content-Type": "application/json"}, method="POST")  # noqa: S310 - http(s) only, checked in settings
    with urlopen(request, timeout=POST_SECONDS) as answer:  # noqa: S310
        answer.read(1_024)
