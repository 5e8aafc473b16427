"""What other owners were told about somebody: their memories that have one of his names in them. It is theirs, and only told.

Looked through are memories as they stand, with their summaries, speakers and earlier contents; not turns that became no memory.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from engramlog_server.consumers.jobs.lifecycle import owners_of
from engramlog_server.events.errors import KeyUnavailable, refused
from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.scan import pairs
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.fold.builds import BuildKeys
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.redis.sealed import cipher_of
from engramlog_server.projections.redis.store import read_record

MOST_NAMES = 20
LONGEST_NAME = 100
MOST_NAMED = 200
"""Memories that are named; the others are counted."""
OnProgress = Callable[[int, int], None]


class Elsewhere(NamedTuple):
    """Where others' memories have one of the names."""

    found: list[tuple[str, str]]
    """Owner and memory, the first of them."""
    total: int
    owners: int
    """Owners who were looked through."""
    shut: list[str]
    """Owners whose keys cannot be had: of them nothing is known."""


def pattern_of(names: Sequence[str]) -> re.Pattern[str]:
    """What finds any of these names, in whatever case, as whole words where their letters stand in words. Raises InputError."""
    if len(names) > MOST_NAMES:
        raise refused("name", len(names), f"at most {MOST_NAMES} names")
    told = list[str]()
    for name in names:
        clean = unicodedata.normalize("NFC", name).strip()
        if not 2 <= len(clean) <= LONGEST_NAME:
            raise refused("name", name[:LONGEST_NAME], f"a name of 2 to {LONGEST_NAME} characters")
        begins, ends = ("" if _is_wide(clean[0]) else r"(?<!\w)"), ("" if _is_wide(clean[-1]) else r"(?!\w)")
        told.append(begins + re.escape(clean) + ends)
    return re.compile("|".join(told), re.IGNORECASE)


def elsewhere(
    wire: Wire,
    tags: Sequence[str],
    names: Sequence[str],
    *,
    but: str,
    on_progress: OnProgress = lambda _done, _all: None,
) -> Elsewhere:
    """Look through the memories of every owner but one. Raises InputError for names that cannot be looked for, StoreError."""
    pattern, found, total, looked, shut = pattern_of(names), list[tuple[str, str]](), 0, 0, list[str]()
    for number, tag in enumerate(tags):
        keys = BuildKeys(tag, (wire.call("HGET", LogKeys(tag).meta, "live") or b"").decode())
        for owner in owners_of(wire, tag):
            if owner == but:
                continue
            looked += 1
            try:
                cipher = cipher_of(wire, keys, owner)
            except KeyUnavailable:
                shut.append(owner)
                continue
            for raw_id, raw in pairs(wire, keys.records(owner)):
                memory = read_record(keys, owner, raw_id.decode(), raw, cipher)
                if any(pattern.search(text) for text in _texts(memory)):
                    total += 1
                    if len(found) < MOST_NAMED:
                        found.append((owner, memory.id))
        on_progress(number + 1, len(tags))
    return Elsewhere(sorted(found), total, looked, shut)


def _is_wide(letter: str) -> bool:
    """Whether it is of a script that parts no words by spaces."""
    return unicodedata.east_asian_width(letter) in ("W", "F")


def _texts(memory: Memory) -> Iterator[str]:
    for text in (memory.content, memory.summary, memory.speaker, *(one.content for one in memory.versions)):
        if text:
            yield unicodedata.normalize("NFC", text)
