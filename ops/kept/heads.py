"""Kept heads against a store: what a verification compares, what a rebuild refuses, and what it takes to accept a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

import msgspec

from consumers.verify.findings import Findings
from events.alarms import LOG_CHANGED
from events.envelope import utc_text
from events.errors import StoreMismatch, StoreUnavailable
from events.heads import Head, HeadBook
from events.partitions import ACCEPTED_KEY, position_text
from events.redis.wire import Wire
from events.text.unreadable import UNREADABLE
from ops.kept.head_file import HeadFile
from ops.kept.head_keeper import HeadKeeper
from ops.settings import Settings
from ops.store import OpenStore
from projections.redis.create import StoreIdentity
from projections.redis.heads import Unmet, check_log, unmet_heads


class HasLog(Protocol):
    """A store whose log can be read."""

    @property
    def identity(self) -> StoreIdentity:
        """What was fixed when it was created."""

    def wire(self) -> Wire:
        """A connection of one's own."""


REBUILT_CURE = (
    "look at `engramlog verify`, restore a copy, or record why it is accepted with --accept-changed-log REASON"
)


class LogChanged(StoreMismatch):
    """The log does not meet the heads that were kept of it."""

    status = 409


class Against:
    """Files of kept heads, and the log of a store compared with them."""

    def __init__(self, store: OpenStore, books: Mapping[str, HeadBook]) -> None:
        self._store = store
        self._books = dict(books)
        self._checked = 0

    def seqs(self, partition: int) -> list[int]:
        """Seqs of a partition at which the chain must be known."""
        return sorted({seq for book in self._books.values() for seq in book.expected.get(partition, ())})

    def compare(self, verdict: Findings) -> None:
        """Tell which kept heads of the verdict's partition its chains do not meet."""
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
        """Tell where a file contradicts itself, or is about another store."""
        for name, book in self._books.items():
            for problem in book.problems:
                verdict.differs("a file of kept heads that contradicts itself", file=name, problem=problem)
            for store in sorted(book.stores - {self._store.identity.store_id}):
                verdict.differs("kept heads of another store", file=name, store=store)

    def told(self) -> dict[str, Any]:
        """How much was compared, JSON-ready."""
        return {"files": {name: book.lines for name, book in self._books.items()}, "compared": self._checked}

    def accepted(self) -> list[dict[str, Any]]:
        """Every change of the log that somebody accepted, by the store and by the files."""
        found: dict[tuple[int, int, str], dict[str, Any]] = {}
        wire = self._store.wire()
        try:
            raws = wire.call("HVALS", ACCEPTED_KEY)
        finally:
            wire.close()
        for raw in raws:
            try:
                one = msgspec.json.decode(raw, type=dict[str, Any])
                found[one["partition"], one["seq"], one["at"]] = one
            except (*UNREADABLE, KeyError):
                continue  # told as a difference of the store
        for book in self._books.values():
            for line in book.accepted:
                for head in line.heads:
                    one = _accepted(head, line.at, line.reason)
                    found.setdefault((head.partition, head.seq, line.at), one)
        return [found[key] for key in sorted(found)]


def compare_receipts(store: OpenStore, partitions: Sequence[int], verdict: Findings) -> int:
    """Tell which events the log no longer holds for which processes of this data folder had receipts; how many were asked."""
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
    """Tell which kept rejections the log lacks, and lines that cannot be used; how many were asked for."""
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
    """The first kept head of each partition that its log does not meet."""
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
    """The first kept head of each of these partitions that its log does not meet. Raises LogChanged, StoreError."""
    return list(_unmet(store, _read(store, file), partitions).values())


def refuse_changed_log(store: HasLog, file: HeadFile, partitions: Sequence[int], cure: str = REBUILT_CURE) -> None:
    """Raises LogChanged where the log does not meet the heads kept of these partitions; `cure`: what can be done then."""
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
    """Record that the log is accepted as it is, in the file of kept heads and in the store; gives what was recorded."""
    unmet = _unmet(store, _read(store, file), partitions)
    if not unmet:
        return []
    heads = [Head(one.partition, one.seq, one.found or "") for one in unmet.values()]
    file.append(utc_text(at), store.identity.store_id, heads, "accepted", reason)
    told = [_accepted(head, utc_text(at), reason) for head in heads]
    wire = store.wire()
    try:
        for one in told:
            field = f"{position_text(one['partition'], one['seq'])} {one['at']}"
            wire.call("HSETNX", ACCEPTED_KEY, field, msgspec.json.encode(one))
    finally:
        wire.close()
    for number in unmet:
        store.alarms.cleared(LOG_CHANGED, f"partition {number}")
    return told


def keep_quietly(store: OpenStore, settings: Settings) -> None:
    """Write down the heads that moved, at the end of a command that appended; what is wrong is an alarm, and fails no command.

    Sinks are left to `up` and `keep_now`: a command should not wait for an address.
    """
    keeper = HeadKeeper(store, settings, sinks=False)
    try:
        keeper.look_quietly()
    finally:
        keeper.close()


def keep_now(store: OpenStore, settings: Settings) -> None:
    """Write down the heads that moved, at once. Raises StoreError."""
    keeper = HeadKeeper(store, settings)
    try:
        changed = keeper.look()
    finally:
        keeper.close()
    if changed:
        raise LogChanged(changed[0])
