"""The heads of a log's chains, and how the log meets those that somebody holds. Reads only; the chain is always recomputed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Unpack, cast

from engramlog_server.api.requests.checks import LineTerms, check_owner, told_lines
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import refused
from engramlog_server.events.heads import FIRST, Head, HeadBook, HeadLine, copied_book, write_line
from engramlog_server.events.partitions import LogKeys, position_text
from engramlog_server.events.redis.log import recorded_of
from engramlog_server.events.redis.server import redis_micros
from engramlog_server.events.redis.wire import Wire, WirePool
from engramlog_server.projections.checks import Check
from engramlog_server.projections.redis.create import (
    HeadState,
    LiveHead,
    PartitionMet,
    StoreIdentity,
    Unmet,
    live_heads,
    meet,
    recompute,
)
from engramlog_server.projections.shapes import (
    ChainHead,
    ChainHeads,
    HeadKept,
    HeadsCompared,
    HeadsKeeping,
    HeadUnmet,
    LogAccepted,
    OwnerHead,
    PartitionCompared,
)

MOST_TEXT = 8 * 1024 * 1024
"""Characters of a text that is compared: as much as a file of kept heads holds before the next begins."""
MOST_EVENTS, MOST_EVENTS_ALLOWED = 200_000, 1_000_000
MOST_UNMET = 100
MOST_PROBLEMS = 10
MOST_ACCEPTED = 100
_CHAIN = re.compile(r"[0-9a-fA-F]{64}")


class Heads:
    """Tells and compares heads. Safe for threads. `kept` reads the file kept here, if any."""

    def __init__(self, wires: WirePool, identity: StoreIdentity, kept: Callable[[], HeadBook] | None = None) -> None:
        self._wires, self._identity, self._kept = wires, identity, kept

    def heads(self) -> ChainHeads:
        """Every head with its time, beside the farthest that is kept; and all as a line to keep. Raises StoreError."""
        with self._wires.wire() as wire:
            at = utc_text(from_micros(redis_micros(wire)))
            live = {number: one for number, one in enumerate(live_heads(wire, self._identity.tags)) if one.seq}
            recorded = self._recorded(wire, live)
        check = current_check()
        check(0, 1 + len(live))
        book = None if self._kept is None else self._kept()
        check(1, 1 + len(live))
        heads = tuple(Head(number, one.seq, one.chain) for number, one in live.items())
        line = HeadLine(1, at, self._identity.store_id, heads, FIRST)
        told: list[ChainHead] = [
            {
                "partition": number,
                "seq": one.seq,
                "chain": one.chain,
                "at": recorded[number],
                "appended": one.appended,
                "kept": None if book is None else _kept(book, number),
            }
            for number, one in live.items()
        ]
        return {
            "store_id": self._identity.store_id,
            "at": at,
            "partitions": self._identity.partitions,
            "heads": told,
            "line": write_line(line).decode().rstrip("\n"),
            "keeping": None if book is None else _keeping(book),
        }

    def _recorded(self, wire: Wire, live: dict[int, LiveHead]) -> dict[int, str | None]:
        """When the log took in the event at each head."""
        places = [(LogKeys(self._identity.tags[number]).stream, one.seq) for number, one in live.items()]
        return {
            number: None if at is None else utc_text(from_micros(at))
            for number, at in zip(live, recorded_of(wire, places), strict=True)
        }

    def check(self, text: str, *, most: int = MOST_EVENTS) -> HeadsCompared:
        """Compare the log with heads that somebody holds: a `text` of lines, or what `heads --json` told.

        The chain of each partition that is named is recomputed from its first event, up to the farthest head; at most so many
        events are read in all, and what was not reached is told. Raises InputError, which names the line.
        """
        if not 1 <= most <= MOST_EVENTS_ALLOWED:
            raise refused("most", most, f"a whole number from 1 to {MOST_EVENTS_ALLOWED:,}")
        if len(text) > MOST_TEXT:
            raise refused("text", f"{len(text):,} characters", f"at most {MOST_TEXT:,} characters")
        return self.compare(copied_book(text.encode(errors="replace"), "text"), most)

    def compare(self, book: HeadBook, most: int = MOST_EVENTS) -> HeadsCompared:
        """The same of heads that were read already."""
        known = range(self._identity.partitions)
        beyond = [number for number in book.expected if number not in known]
        with self._wires.wire() as wire:
            live = live_heads(wire, self._identity.tags)
            met, events = self._met(wire, book, live, most)
        uncovered = [number for number, one in enumerate(live) if one.appended and not book.expected.get(number)]
        problems = [f"partition {number} is none of this store's {len(known)}" for number in sorted(beyond)]
        return _told(self._identity.store_id, book, met, problems, uncovered, events, most)

    def _met(self, wire: Wire, book: HeadBook, live: Sequence[LiveHead], most: int) -> tuple[list[PartitionMet], int]:
        """Each partition's heads against its log, and how many events were read."""
        wanted = {
            number: min(max(seqs), live[number].appended)
            for number, seqs in sorted(book.expected.items())
            if seqs and number < len(live)
        }
        met, events, total, check = list[PartitionMet](), 0, min(sum(wanted.values()), most), current_check()
        for number, to in wanted.items():
            progress = partial(_checked, check, events, total)
            tag, expected = self._identity.tags[number], book.expected[number]
            read = recompute(wire, tag, expected, to, most=most - events, check=progress)
            events += read.read_to
            met.append(meet(number, expected, live[number].appended, read))
        return met, events


class OwnerHeads:
    """Heads of owners' chains. Safe for threads."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def heads(self, owner: str, *, chain: str | None = None, **times: Unpack[LineTerms]) -> OwnerHead:
        """The head of an owner's chain, now or in the past, and whether it is the `chain` that was told. Leaves no trace.

        Raises InputError for an owner, a chain or a place in time that cannot be.
        """
        if chain is not None and not _CHAIN.fullmatch(chain):
            raise refused("chain", chain[:80], "64 hexadecimal digits")
        with self._reader.snapshot(check_owner(owner), **times) as snapshot:
            found, place = snapshot.chain.hex(), snapshot.place
        return {
            "owner": owner,
            "chain": found,
            "asked": chain,
            "agrees": None if chain is None else chain.lower() == found,
            **told_lines(times),
            **place,
        }


def _checked(check: Check, before: int, total: int, done: int, _of: int) -> None:
    check(before + done, total)


def _kept(book: HeadBook, number: int) -> HeadKept | None:
    newest = book.newest(number)
    if newest is None:
        return None
    line = book.expected[number][newest.seq]
    return {"seq": newest.seq, "chain": newest.chain, "at": line.at, "line": line.line}


def _keeping(book: HeadBook) -> HeadsKeeping:
    return {
        "lines": book.lines,
        "last": None if book.last is None else book.last.at,
        "problems": book.problems[:MOST_PROBLEMS],
        "accepted": _accepted(book),
    }


def _accepted(book: HeadBook) -> list[LogAccepted]:
    told: list[LogAccepted] = [
        {"partition": head.partition, "seq": head.seq, "at": line.at, "reason": line.reason}
        for line in book.accepted[-MOST_ACCEPTED:]
        for head in line.heads
    ]
    return told[-MOST_ACCEPTED:]


def _told(
    store_id: str,
    book: HeadBook,
    met: Sequence[PartitionMet],
    problems: list[str],
    uncovered: list[int],
    events: int,
    most: int,
) -> HeadsCompared:
    partitions = [_partition(one) for one in met]
    unmet = [_unmet(one, state) for each in met for one, state in each.unmet]
    others = sorted(book.stores - {store_id})
    problems = [*book.problems, *problems]
    unread = sum(one["unread"] for one in partitions)
    return {
        "store_id": store_id,
        "agrees": not (unmet or problems or others),
        "complete": not unread,
        "lines": book.lines,
        "heads": sum(one["heads"] for one in partitions),
        "agreed": sum(one["agreed"] for one in partitions),
        "differing": sum(one["differing"] for one in partitions),
        "missing": sum(one["missing"] for one in partitions),
        "unread": unread,
        "partitions": partitions,
        "unmet": unmet[:MOST_UNMET],
        "problems": problems[:MOST_PROBLEMS],
        "other_stores": others[:MOST_PROBLEMS],
        "accepted": _accepted(book),
        "uncovered": uncovered,
        "events_read": events,
        "most": most,
    }


def _partition(one: PartitionMet) -> PartitionCompared:
    counts, told = one.counts, one._asdict()
    del told["unmet"]
    told |= {"agreed": counts["agrees"], "differing": counts["differs"]}
    told |= {"missing": counts["missing"], "unread": counts["unread"]}
    return cast("PartitionCompared", {"state": one.state, **told})


def _unmet(one: Unmet, state: HeadState) -> HeadUnmet:
    told: Any = {"position": position_text(one.partition, one.seq), "state": state, **one._asdict()}
    return cast("HeadUnmet", told)
