"""Kept rejections: what a person rejected or took up again, written outside of the store without its words.

Each line stands alone: an operator may remove the lines of an owner. A line holds digests, and the owner's line in the store: the
secret that keys them, or in a sealed store the name of its key. With digests and secret a guess can be confirmed, as with the
store itself: the file is as private as the store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple
from uuid import UUID

import msgspec

from engramlog_server.events.catalogue import ValueReadmitted, ValueRejected
from engramlog_server.events.encryption.cipher import ValueCipher
from engramlog_server.events.encryption.key_store import NAME_BYTES
from engramlog_server.events.entry import DIGEST_BYTES, SECRET_BYTES
from engramlog_server.events.envelope import AnyEvent, derived_id, utc_text
from engramlog_server.events.errors import KeyUnavailable, StoreUnavailable
from engramlog_server.events.partitions import MAX_PARTITIONS, partition_of
from engramlog_server.events.redis.secrets import read_lines
from engramlog_server.events.text import UNREADABLE
from engramlog_server.events.vocabulary import MOST_STATEMENTS
from engramlog_server.ops.durable import FileFull, FileLock, append_lines, file_state, replace_file, store_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from engramlog_server.events.encryption.seals import Seals
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


def read_values(raw: bytes, store: str, partitions: int) -> ValueBook:
    """Read all lines of a file."""
    book = ValueBook(store, partitions)
    *whole, rest = raw.split(b"\n")
    for number, line in enumerate(whole, 1):
        book.take(number, line)
    book.torn = len(rest)
    return book


def with_secret(raw: bytes, store: str, secrets: Mapping[str, str]) -> bytes | None:
    """A line of this store with another secret; None if there is none for its event, or the line cannot be read."""
    try:
        line = _READ.decode(raw)
    except UNREADABLE:
        return None
    told = secrets.get(line.event) if isinstance(line, KeptValue) and line.store == store else None
    return None if told is None else _WRITE.encode(msgspec.structs.replace(line, secret=told))


def is_of(raw: bytes, store: str, owner: str, upto: int) -> bool:
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
                self._book, self._known = read_values(raw, self.store, self._partitions), state
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
        return self._rewritten(lambda line: with_secret(line, self.store, secrets))

    def forget(self, owner: str, upto: int = -1) -> int:
        """Remove the lines of an erased owner, which hold the owner's secret; returns how many. `upto`: the last seq to remove, if
        the owner was readmitted; -1: all. Raises as `rewrite`."""
        if not self.path.exists():
            return 0
        return self._rewritten(lambda line: b"" if is_of(line, self.store, owner, upto) else None)

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
        secret = opened_secret(wire.seals, one)
        if secret is None:
            continue
        cipher = held.get(one.owner)
        if isinstance(cipher, ValueCipher) and cipher.secret == secret:
            anew[one.event] = lines[one.owner].hex()
        elif len(one.secret) == 2 * SECRET_BYTES:  # of a history that the store lost: it must not stay open
            anew[one.event] = wire.seals.lines({one.owner: secret})[one.owner].hex()
    return file.rewrite(anew) if anew else 0


def opened_secret(seals: Seals, one: KeptValue) -> bytes | None:
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
