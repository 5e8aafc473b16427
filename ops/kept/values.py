"""Kept rejections: what a person rejected or took up again, written down outside of the store without a word of it. Pure.

Each line stands alone: an operator may take the lines of an owner out. A line says what it takes to say it again: digests, and the
owner's secret that they are keyed by, as it stands in the store: of a sealed one wrapped under the master key. Whoever has both can
confirm a guess, as whoever has the store can: the file is as private as the store is, and lies where the API's token lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from uuid import UUID

import msgspec

from events.catalogue import ValueReadmitted, ValueRejected
from events.entry import SECRET_BYTES
from events.envelope import AnyEvent, derived_id, utc_text
from events.partitions import MAX_PARTITIONS, partition_of
from events.statement_digests import DIGEST_BYTES, MOST_STATEMENTS
from events.text.unreadable import UNREADABLE

MOST_PROBLEMS = 10
"""Lines that cannot be read which are told one by one; the others are counted."""
MOST_WRAPPED = 4_096
"""Bytes of a secret that a master key wrapped, at most."""
REASON = "said again: it was kept outside of the store, which lacked it"
"""Of an event that is said again; the reason that a person gave is words, and is not kept."""


class KeptValue(msgspec.Struct, frozen=True, tag="value", tag_field="kind", omit_defaults=True):
    """A `ValueRejected` or `ValueReadmitted` that is in the log: where, and what it takes to say it again."""

    store: str
    partition: int
    seq: int
    event: str
    type: Literal["ValueRejected", "ValueReadmitted"]
    owner: str
    secret: str
    """The owner's line in the store: 64 hexadecimal digits where that lies open, and more of a secret that is wrapped."""
    occurred_at: str
    actor: str
    principal: str
    values: tuple[str, ...]
    rules: int
    until: str | None = None
    turns: tuple[str, ...] = ()

    @property
    def again(self) -> str:
        """The id under which it is said again: one for all who do. Its own may still come, with the words of its reason."""
        return derived_id("kept value", self.event)

    def data(self) -> ValueRejected | ValueReadmitted:
        """What is said again. Raises msgspec.ValidationError for what no event says."""
        told = {"values": self.values, "rules": self.rules, "reason": REASON}
        if self.type == "ValueReadmitted":
            return msgspec.convert(told, ValueReadmitted)
        told |= {"turns": self.turns} | ({"until": self.until} if self.until else {})
        return msgspec.convert(told, ValueRejected)


class Level(msgspec.Struct, frozen=True, tag="level", tag_field="kind"):
    """All lines of a partition before this one were looked for: the log had this event there. `seq` 0: it had none of them."""

    store: str
    partition: int
    seq: int
    event: str


Line = KeptValue | Level
_READ = msgspec.json.Decoder(Line)
_WRITE = msgspec.json.Encoder()


class Anchor(NamedTuple):
    """An event by which a log is known to hold all that was kept of a partition: nothing before it can have gone."""

    seq: int
    event: str


@dataclass(slots=True)
class ValueBook:
    """What a file of kept rejections says of one store."""

    store: str
    partitions: int
    kept: dict[str, KeptValue] = field(default_factory=dict)
    """Event id -> its line, in the order of the file."""
    anchors: dict[int, Anchor] = field(default_factory=dict)
    """Partition -> the farthest event since it was looked last."""
    levels: dict[int, int] = field(default_factory=dict)
    """Partition -> where the last that was said again stands, of those of which nothing was kept since."""
    foreign: int = 0
    """Lines of other stores."""
    bad: int = 0
    problems: list[str] = field(default_factory=list)
    """The first lines that cannot be read, or say what cannot be."""
    torn: int = 0
    """Bytes at the end that are no whole line: its writer died."""

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever written."""
        return not (self.kept or self.anchors or self.foreign or self.bad)

    def take(self, number: int, raw: bytes) -> None:
        """One whole line."""
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
        """One line of this store."""
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
    """What of a line cannot be; that it can be said, validation asks when it is."""
    if not (0 <= line.partition < min(partitions, MAX_PARTITIONS) and line.seq >= 0):
        return "names a place that no log of this store has"
    if isinstance(line, Level):
        return None if not line.seq or _is_id(line.event) else "names an event by what is no id"
    if not _is_id(line.event):
        return "names an event by what is no id"
    if partition_of(line.owner, partitions) != line.partition:
        return "has an owner whose events lie in another partition"
    secret = SECRET_BYTES <= len(line.secret) // 2 <= MOST_WRAPPED and _is_hex(line.secret, len(line.secret) // 2)
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
    """All lines of a file."""
    book = ValueBook(store, partitions)
    *whole, rest = raw.split(b"\n")
    for number, line in enumerate(whole, 1):
        book.take(number, line)
    book.torn = len(rest)
    return book


def with_secret(raw: bytes, store: str, secrets: Mapping[str, str]) -> bytes | None:
    """A line of this store with the secret that is told for its event; None where none is, or the line cannot be read."""
    try:
        line = _READ.decode(raw)
    except UNREADABLE:
        return None
    told = secrets.get(line.event) if isinstance(line, KeptValue) and line.store == store else None
    return None if told is None else _WRITE.encode(msgspec.structs.replace(line, secret=told))


def is_of(raw: bytes, store: str, owner: str, upto: int) -> bool:
    """Whether a line of this store keeps a rejection of this owner that stands up to a seq, -1 for all; one that cannot be read
    does not."""
    try:
        line = _READ.decode(raw)
    except UNREADABLE:
        return False
    mine = isinstance(line, KeptValue) and line.store == store and line.owner == owner
    return mine and (upto < 0 or line.seq <= upto)


def write_lines(lines: Iterable[Line]) -> bytes:
    """The lines with their ends."""
    return b"".join(_WRITE.encode(one) + b"\n" for one in lines)


def line_of(event: AnyEvent, store: str, place: tuple[int, int], secret: bytes, principal: str) -> KeptValue:
    """What is kept of an event that stands at a place, (partition, seq). `secret`: the owner's line in the store."""
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
    """Owners, each with its lines in the order of the file."""
    found: dict[str, list[KeptValue]] = {}
    for one in lines:
        found.setdefault(one.owner, []).append(one)
    yield from found.items()
