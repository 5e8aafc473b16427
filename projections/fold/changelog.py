"""The change log: one entry for every (event, memory), and the owner's hash chain over them (memory.md, section 8).

Entries hold field names, versions and content hashes, never content, so a purge touches no entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from typing import NotRequired, TypedDict

import msgspec

from engramlog_server.events.catalogue import EVENT_TYPES
from engramlog_server.events.entry import keyed, link_told
from engramlog_server.events.envelope import Stored, from_micros, utc_text
from engramlog_server.events.parameters import Parameters
from engramlog_server.events.partitions import position_text
from engramlog_server.projections.fold.reasons import reason_told
from engramlog_server.projections.fold.working_set import Note
from engramlog_server.projections.laws.weighted import Factors, factors
from engramlog_server.projections.memory.record import SECRET, Memory
from engramlog_server.projections.memory.rejection import REJECTED_BY


class Change(TypedDict):
    """One change-log entry: what one event did to one memory. Never holds content."""

    position: str
    event_id: str
    time: str
    event: str
    memory: str | None
    decision: str
    reason: str
    reason_code: NotRequired[str | None]
    reason_values: NotRequired[dict[str, str] | None]
    law: str
    old_weight: float | None
    new_weight: float | None
    delta: float | None
    weighed_at: NotRequired[str | None]
    factors: dict[str, float] | None
    fields: list[str]
    version: int | None
    content_hash: str | None
    actor: NotRequired[str | None]
    correlation_id: NotRequired[str | None]
    recorded_at: NotRequired[str | None]
    principal: NotRequired[str | None]
    late_by: NotRequired[float | None]
    said_reason: NotRequired[str | None]
    because: NotRequired[str | None]


FIRST_LINK = bytes(32)
"""What the first link of every chain follows."""
DECISIONS = (
    "ignored", "create", "reinforce", "merge", "negate", "reaffirm", "revise", "compress", "promote", "keep", "delete",
    "restore", "purge", "unmerge", "link", "review", "named", "profile", "parameters", "discard",
    "synonym", "read", "sensitivity", "reveal",
    "ground", "reject", "readmit", "set_aside", "bring_back", "wait", "settle",
    "erase",
)  # fmt: skip
_DECISION = {name: number for number, name in enumerate(DECISIONS)}
_TYPES = tuple(EVENT_TYPES)
_TYPE = {name: number for number, name in enumerate(_TYPES)}
_FIELDS = Memory.__struct_fields__
_FIELD = {name: number for number, name in enumerate(_FIELDS)}
_TEXT = frozenset({"content", "summary"})
HASH_BYTES = 8
_PURPOSE = b"content hash"


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One change-log entry as it is kept; numbers stand for words of closed lists."""

    seq: int
    raw_id: bytes
    at: int
    type: int
    memory_id: str
    """Empty where the entry is about the owner."""
    decision: int
    reason: str
    fields: tuple[int | str, ...]
    version: int
    content_hash: bytes
    """8 bytes of blake2b over content and summary where they are new, keyed with the owner's secret; else empty."""
    old_weight: float | None
    new_weight: float | None
    factors: tuple[float, ...]
    weighed: int = 0
    """At which instant the weights are, where that is not `at`: the memory had met a later event. 0 where it is."""


def numbers_of(event_type: str, decision: str) -> tuple[int, int]:
    """The numbers that stand for an event's type and a decision in entries."""
    return _TYPE[event_type], _DECISION[decision]


_SIZE_BYTES = 4
_PACK = msgspec.msgpack.Encoder()
_LINK = msgspec.msgpack.Encoder()


def make_entry(
    note: Note, seq: int, raw_id: bytes, at: int, event_type: str, parameters: Parameters, secret: bytes = b""
) -> Entry:
    """The entry of a note; both weights are the weighted law at one instant, on the record before and after.

    `secret`: the owner's; empty where it is not known, and then the entry has no content hash.
    """
    before, after, fields = note.before, note.after, note.fields
    old = new = None
    found: tuple[float, ...] = ()
    told, instant = b"", at
    if after is not None:
        instant = at if before is None or before.stamp <= at else before.stamp
        new, found = _rounded(factors(after, instant, parameters))
        if before is None:
            told = content_hash(after, secret)
        elif before is after:
            old = new
        else:
            old = round(factors(before, instant, parameters).product, 6)
            told = b"" if _TEXT.isdisjoint(fields) else content_hash(after, secret)
    return Entry(
        seq,
        raw_id,
        at,
        _TYPE[event_type],
        note.memory_id,
        _DECISION[note.decision],
        note.reason,
        _numbered(fields) if fields else (),
        after.version if after is not None else 0,
        told,
        old,
        new,
        found,
        0 if instant == at else instant,
    )


@lru_cache(maxsize=1024)
def _rounded(found: Factors) -> tuple[float, tuple[float, ...]]:
    """Weight and factors as they are told. Kept, for all memories of a category begin with the same."""
    return round(found.product, 6), tuple(round(value, 6) for value in found)


@lru_cache(maxsize=1024)
def _numbered(fields: tuple[str, ...]) -> tuple[int | str, ...]:
    """Numbers for a record's field names; names of parameters stay."""
    return tuple(_FIELD.get(name, name) for name in fields)


def content_hash(memory: Memory, secret: bytes) -> bytes:
    """8 bytes that tell an owner's contents apart without telling them; none without the owner's secret: short texts are guessed.

    None either of what is itself a secret: with a copy of the store a PIN can be guessed from it.
    """
    if not secret or memory.sensitivity >= SECRET:
        return b""
    return keyed(secret, _PURPOSE, f"{memory.content}\x00{memory.summary or ''}".encode(), HASH_BYTES)


def link(previous: bytes, entry: Entry) -> bytes:
    """The next link of an owner's chain.

    Numbers from laws are left out, so a law's change breaks no chain; and seqs, so other owners' events do not matter.
    """
    told = (
        entry.raw_id,
        entry.at,
        entry.type,
        entry.memory_id,
        entry.decision,
        entry.reason,
        entry.fields,
        entry.version,
        entry.content_hash,
    )
    return sha256(previous + _LINK.encode(told)).digest()


def event_link(previous: bytes, one: Stored) -> bytes:
    """The next link of a partition's chain: over all clear fields."""
    return sha256(previous + one.seq.to_bytes(8, "big") + link_told(one)).digest()


class Chunk(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one commit adds to an owner's log: the seqs of its events (delta-coded) and their entries."""

    steps: tuple[int, ...]
    entries: tuple[Entry, ...]
    first: int = 0
    """Number of the first event among the owner's, from 1; builds of before version 9 do not tell it."""


def pack(first: int, seqs: Iterable[int], entries: Iterable[Entry]) -> bytes:
    """One chunk as bytes; chunks can be laid end to end. `first`: number of its first event among the owner's, from 1."""
    steps, last = [], 0
    for seq in seqs:
        steps.append(seq - last)
        last = seq
    return laid(_PACK.encode(Chunk(tuple(steps), tuple(entries), first)))


def laid(raw: bytes) -> bytes:
    """A chunk's bytes with their length before them."""
    return len(raw).to_bytes(_SIZE_BYTES, "big") + raw


def chunks_of(raw: bytes) -> Iterator[bytes]:
    """The bytes of each of chunks that are laid end to end."""
    at = 0
    while at < len(raw):
        size = int.from_bytes(raw[at : at + _SIZE_BYTES], "big")
        at += _SIZE_BYTES
        yield raw[at : at + size]
        at += size


def first_in(raw: bytes) -> int:
    """The number of the first event in packed bytes; 0 where there is none, or nothing tells."""
    size = int.from_bytes(raw[:_SIZE_BYTES], "big")
    return _UNPACK_STEPS.decode(raw[_SIZE_BYTES : _SIZE_BYTES + size]).first if raw else 0


_UNPACK = msgspec.msgpack.Decoder(Chunk)


def unpack(raw: bytes) -> tuple[list[int], list[Entry]]:
    """Seqs and entries of chunks laid end to end, in the order in which they were folded."""
    seqs: list[int] = []
    entries: list[Entry] = []
    at = 0
    while at < len(raw):
        size = int.from_bytes(raw[at : at + _SIZE_BYTES], "big")
        at += _SIZE_BYTES
        chunk = _UNPACK.decode(raw[at : at + size])
        last = 0
        for step in chunk.steps:
            last += step
            seqs.append(last)
        entries.extend(chunk.entries)
        at += size
    return seqs, entries


class _Steps(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A chunk of which the entries stay unread."""

    steps: tuple[int, ...]
    entries: msgspec.Raw
    first: int = 0


_UNPACK_STEPS = msgspec.msgpack.Decoder(_Steps)


def unpack_seqs(raw: bytes) -> list[int]:
    """The seqs of `unpack` alone: no entry is decoded."""
    seqs: list[int] = []
    at = 0
    while at < len(raw):
        size = int.from_bytes(raw[at : at + _SIZE_BYTES], "big")
        at += _SIZE_BYTES
        seqs.extend(accumulate(_UNPACK_STEPS.decode(raw[at : at + size]).steps))
        at += size
    return seqs


def describe(entry: Entry, partition: int) -> Change:
    """The entry as people and JSON read it."""
    delta = (
        None if entry.old_weight is None or entry.new_weight is None else round(entry.new_weight - entry.old_weight, 6)
    )
    reason = _reason_told(entry.reason, partition)
    told = reason_told(reason)
    return {
        "position": position_text(partition, entry.seq),
        "event_id": id_text(entry.raw_id),
        "time": utc_text(from_micros(entry.at)),
        "event": _TYPES[entry.type],
        "memory": entry.memory_id or None,
        "decision": DECISIONS[entry.decision],
        "reason": reason,
        "reason_code": told.code,
        "reason_values": told.told(),
        "law": "weighted",
        "old_weight": entry.old_weight,
        "new_weight": entry.new_weight,
        "delta": delta,
        "weighed_at": utc_text(from_micros(entry.weighed)) if entry.weighed else None,
        "factors": dict(zip(Factors._fields, entry.factors, strict=True)) if entry.factors else None,
        "fields": [_FIELDS[name] if isinstance(name, int) else name for name in entry.fields],
        "version": entry.version or None,
        "content_hash": entry.content_hash.hex() or None,
    }


def _reason_told(reason: str, partition: int) -> str:
    """A reason with the whole position where it names a rejection: a fold knows seqs alone."""
    if not reason.startswith(REJECTED_BY):
        return reason
    return f"{REJECTED_BY[:-1]}{position_text(partition, int(reason.removeprefix(REJECTED_BY)))}"


def id_text(raw: bytes) -> str:
    """16 bytes as a UUID is written."""
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
