"""Kept heads: what a log's chain was, written down outside of it, in lines that are chained themselves. Pure.

A line tells the heads that moved since the line before, and the hash of that line: nothing can be changed in the middle of a file,
or taken out of it, without breaking what follows. The end can be cut off, and the whole file written anew: only a copy that
others hold proves anything against whoever can write both the file and the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, NamedTuple

import msgspec

from engramlog_server.events.errors import InputError, refused
from engramlog_server.events.partitions import MAX_PARTITIONS
from engramlog_server.events.text import UNREADABLE

FIRST = "0" * 64
"""What the first line of all follows."""
MOST_REASON = 200
MOST_HEADS = 200_000
"""Heads in one copy that is compared."""
MOST_SEQ = 2**53 - 1
EXPECTED = (
    "kept heads as `engramlog verify --heads --keep` and `up` write them (heads.jsonl), a copy of them, or those of"
    " `verify --heads --json`"
)
_CHAIN = re.compile(r"[0-9a-f]{64}")


class Head(NamedTuple):
    """The chain over a partition's stored events up to a seq (docs/stream-format.md)."""

    partition: int
    seq: int
    chain: str
    """64 hexadecimal digits; "" in an acceptance where the log has no such seq any more."""


class HeadLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a file of kept heads."""

    n: int
    """Number of the line since the first of all, from 1."""
    at: str
    """When it was written, RFC 3339, by the clock of the machine that wrote it."""
    store: str
    heads: tuple[Head, ...]
    """Those that moved; in an acceptance, from where on the log was accepted as it is, and the chain there."""
    before: str
    """SHA-256 of the line before, without its line end."""
    kind: Literal["heads", "accepted"] = "heads"
    reason: str = ""
    """Why somebody accepted that the log is another than was written down."""


_READ = msgspec.json.Decoder(HeadLine)
_WRITE = msgspec.json.Encoder()


def write_line(line: HeadLine) -> bytes:
    """The line with its end."""
    return _WRITE.encode(line) + b"\n"


def line_hash(raw: bytes) -> str:
    """What the next line calls this one."""
    return sha256(raw.rstrip(b"\n")).hexdigest()


def line_number(raw: bytes) -> int:
    """The number of a line; 0 where it cannot be read."""
    try:
        return _READ.decode(raw).n
    except UNREADABLE:
        return 0


class Expected(NamedTuple):
    """A chain that the log must have at a place, and the line that says so."""

    chain: str
    line: int
    at: str = ""
    """When it was written down."""


@dataclass(slots=True)
class HeadBook:
    """What a file of kept heads says."""

    lines: int = 0
    """How many were read."""
    number: int = 0
    """Of the line read last, since the first of all."""
    last: HeadLine | None = None
    last_hash: str = FIRST
    stores: set[str] = field(default_factory=set)
    expected: dict[int, dict[int, Expected]] = field(default_factory=dict)
    """Partition -> seq -> what the chain must be there; without what was accepted to be otherwise."""
    accepted: list[HeadLine] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Where the file contradicts itself."""
    unread: int | None = None
    """The first line that cannot be read, from 1 on, among those of the file."""
    torn: int = 0
    """Bytes at the end that are no whole line: its writer died."""

    def newest(self, partition: int) -> Head | None:
        """The kept head that reaches farthest."""
        seqs = self.expected.get(partition)
        return Head(partition, max(seqs), seqs[max(seqs)].chain) if seqs else None

    def take(self, raw: bytes) -> None:
        """One whole line."""
        self.lines, number = self.lines + 1, self.number + 1
        try:
            line = _READ.decode(raw)
        except UNREADABLE as error:
            self.problems.append(f"line {number} cannot be read: {error}")
            self.unread = self.unread or self.lines
            self.number, self.last_hash = number, line_hash(raw)
            return
        if self.last is None and not self.problems:
            number = line.n  # a file that follows on one that is not here
        if self.last is not None and (line.before != self.last_hash or line.n != self.last.n + 1):
            self.problems.append(f"line {number} does not follow on the line before")
        self.number, self.last, self.last_hash = number, line, line_hash(raw)
        self.stores.add(line.store)
        if line.kind == "accepted":
            self.accepted.append(line)
        for head in line.heads:
            self._take_head(head, line, number)

    def _take_head(self, head: Head, line: HeadLine, number: int) -> None:
        if not _can_be(head, line.kind):
            self.problems.append(f"line {number} has a head that cannot be")
            return
        seqs = self.expected.setdefault(head.partition, {})
        if line.kind == "accepted":
            for seq in [seq for seq in seqs if seq >= head.seq]:
                del seqs[seq]
        elif seqs.setdefault(head.seq, Expected(head.chain, number, line.at)).chain != head.chain:
            self.problems.append(f"line {number} has another chain at {head.partition}:{head.seq} than a line before")


def _can_be(head: Head, kind: str) -> bool:
    chained = bool(_CHAIN.fullmatch(head.chain)) or (kind == "accepted" and not head.chain)
    return 0 <= head.partition < MAX_PARTITIONS and 0 <= head.seq <= MOST_SEQ and chained


class HeadPart(msgspec.Struct, frozen=True):
    """A head by the names of its parts, as `heads --json` tells it."""

    partition: int
    seq: int
    chain: str


class HeadsDocument(msgspec.Struct, frozen=True):
    """What `heads --json` tells, as far as it is compared."""

    store_id: str
    heads: list[HeadPart]
    at: str = ""


_READ_DOCUMENT = msgspec.json.Decoder(HeadsDocument)


def copied_book(raw: bytes, field: str, name: str = "") -> HeadBook:
    """Heads that somebody holds: lines, where several files may follow each other, or the answer of `heads --json`.

    Raises InputError, which names `field` and the line; `name`: of a file. What a dying writer left at the end of a file is no
    line; of a text without a `name` every line must be whole.
    """
    book = _document(raw, field, name) if _is_document(raw) else _lines(raw, torn_ok=bool(name))
    if not book.lines or book.unread is not None:
        found = "has no line" if book.unread is None else f"cannot be read in line {book.unread}"
        raise InputError(_told(field, name, found), field=field, got=name or found, allowed=EXPECTED)
    many = sum(len(seqs) for seqs in book.expected.values())
    if many > MOST_HEADS:
        raise refused(field, f"{many:,} heads", f"at most {MOST_HEADS:,}: compare a part of them")
    return book


def _told(field: str, name: str, found: str) -> str:
    return f"{field}: {name or 'it'} {found}; allowed: {EXPECTED}"


def _is_document(raw: bytes) -> bool:
    """Whether it is one JSON object with heads by name, and no line."""
    try:
        return "store_id" in msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except UNREADABLE:
        return False


def _document(raw: bytes, field: str, name: str) -> HeadBook:
    try:
        told = _READ_DOCUMENT.decode(raw)
    except UNREADABLE as error:
        raise InputError(
            _told(field, name, f"cannot be read: {error}"), field=field, got=name, allowed=EXPECTED
        ) from error
    heads = tuple(Head(one.partition, one.seq, one.chain.lower()) for one in told.heads)
    for at, head in enumerate(heads):
        if not _can_be(head, "heads"):
            found = f"has a head that cannot be, heads[{at}]"
            raise InputError(_told(field, name, found), field=field, got=f"heads[{at}]", allowed=EXPECTED)
    book = HeadBook()
    book.take(write_line(HeadLine(1, told.at, told.store_id, heads, FIRST)).rstrip(b"\n"))
    return book


def _lines(raw: bytes, *, torn_ok: bool) -> HeadBook:
    """All lines; one that begins a file may stand behind the end of another."""
    book, begins = HeadBook(), f'"before":"{FIRST}"'.encode()
    *whole, rest = raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    if rest.strip() and (line_number(rest) or not torn_ok):
        whole.append(rest)
    elif rest.strip():
        book.torn = len(rest)
    for line in whole:
        if begins in line:
            book.last = None
        if line.strip() or torn_ok:
            book.take(line if torn_ok else line.strip())
    return book


def read_book(raw: bytes) -> HeadBook:
    """All lines of a file."""
    book = HeadBook()
    *whole, rest = raw.split(b"\n")
    for line in whole:
        book.take(line)
    book.torn = len(rest)
    return book


def next_line(
    book: HeadBook,
    at: str,
    store: str,
    heads: Iterable[Head],
    kind: Literal["heads", "accepted"] = "heads",
    reason: str = "",
) -> HeadLine:
    """The line that follows on a book."""
    number = 1 if book.last is None else book.last.n + 1
    return HeadLine(number, at, store, tuple(heads), book.last_hash, kind, reason)
