"""Verify what belongs to the whole store: its identity, other keys, and what was erased from it.

Destroyed keys and erased words are compared with the erasures in the log: no silent erasure, and no silent return.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec

from engramlog_server.consumers.verify.findings import Findings, is_number, shown
from engramlog_server.events.catalogue import OwnerErasure, WordsErasure
from engramlog_server.events.cipher import salts_id
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import FoldError, StoreError, StoreMismatch, UndecodableEvent
from engramlog_server.events.keys import KEYS_FIELD, erasure_of, is_tombstone
from engramlog_server.events.parameters import PARAMETER_SET
from engramlog_server.events.partitions import (
    ERASURES,
    FORMAT,
    KEYS_FROM,
    MAX_PARTITIONS,
    RESTORED,
    STORE_KEY,
    STORE_KEYS,
    LogKeys,
    label_of,
    partition_of,
    position_text,
    spread_tags,
)
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.secrets import opened, readmission, whole_number
from engramlog_server.events.redis.wire import Argument, Wire, keys_like, pairs
from engramlog_server.events.text import AUTO, UNREADABLE
from engramlog_server.events.text import MOST_NAMED as MOST_CHARACTERS
from engramlog_server.projections.embedding.names import embedder_kind
from engramlog_server.projections.redis.create import BACKED_UP, SEALED, backed_up_at, restored_by
from engramlog_server.projections.redis.store import slices
from engramlog_server.projections.redis.usage import is_day_key

_Wiped = Mapping[str, Mapping[int, Sequence[int]]]
"""Erasure -> by partition the seqs of the entries that lost their words by it, in order."""


def wiped_by(wire: Wire, tags: Sequence[str]) -> _Wiped:
    """Erasure -> by partition the seqs of the entries that lost their words by it, in order. Raises StoreError.

    Entries that this log lacks, because it is an older copy, are left out.
    """
    rows = (
        [(number, one) for number, one in wire.seals.keys.wiped() if one.partition < len(tags)]
        if wire.seals.is_on
        else []
    )
    found = dict[str, dict[int, list[int]]]()
    for some in slices(rows, READ_COUNT):
        asked: list[list[Argument]] = [
            ["XRANGE", LogKeys(tags[one.partition]).stream, f"{one.seq}-0", f"{one.seq}-0"] for _, one in some
        ]
        for (number, one), answer in zip(some, wire.answers(asked), strict=True):
            if [salts_id(entry.body) for entry in entries(answer)] == [number]:
                found.setdefault(one.erasure, {}).setdefault(one.partition, []).append(one.seq)
    return {erasure: {number: sorted(seqs) for number, seqs in of.items()} for erasure, of in found.items()}


def positions_digest(partition: int, seqs: Iterable[int]) -> str:
    """SHA-256 of the positions of entries, one a line, in the order of the log; 64 hexadecimal digits."""
    return sha256("".join(f"{position_text(partition, seq)}\n" for seq in sorted(seqs)).encode()).hexdigest()


READ_COUNT = 1_000
MOST_NAMED = 20
"""Entries that a difference names."""


class _Lines(NamedTuple):
    """Lines that a store still has of erased owners."""

    destroyed: dict[str, bytes]
    """Owner -> the line in the place of its key, which was destroyed."""
    readmitted: dict[str, tuple[bytes, int]]
    """Owner -> line of its readmission, and the head of its partition."""


def compare_erasures(wire: Wire, store_id: str, tags: Sequence[str], verdict: Findings) -> None:
    """Report destroyed keys and readmissions without an event in the log, and erasures whose owners have a key."""
    try:
        _compare(wire, store_id, tags, verdict)
    except (FoldError, StoreError) as error:
        verdict.differs("what the log tells of erasures, which cannot be read", problem=error.message)


def _compare(wire: Wire, store_id: str, tags: Sequence[str], verdict: Findings) -> None:
    lines, wiped = _lines(wire, tags), wiped_by(wire, tags)
    keys = LogKeys(tags[partition_of(ERASURES, len(tags))])
    if not (lines.destroyed or lines.readmitted or wiped or wire.call("HEXISTS", keys.heads, ERASURES)):
        return
    told = list(_said(wire, keys))
    _compare_words(wire, store_id, tags, wiped, told, verdict)
    said = [one for one in told if isinstance(one, OwnerErasure)]
    steps = {(one.label, one.erasure, one.step) for one in said}
    left = {one.erasure: one.line for one in said if one.step == "ended"}
    for owner, line in sorted(lines.destroyed.items()):
        erasure = erasure_of(line)
        if not any((label_of(store_id, owner), erasure, step) in steps for step in ("began", "ended")):
            verdict.differs("a key that was destroyed by no erasure that the log tells of", owner=owner)
        elif left.get(erasure) not in (None, sha256(line).hexdigest()):
            verdict.differs("another line in the place of a destroyed key than its erasure left", owner=owner)
    for owner, (again, head) in sorted(lines.readmitted.items()):
        try:
            seq, erasure = readmission(owner, again)
        except StoreMismatch:
            continue  # its partition's verification reports it
        if seq > head or (label_of(store_id, owner), erasure, "readmitted") not in steps:
            verdict.differs("a readmission that the log does not tell of", owner=owner, seq=seq)
    newest = {one.label: one for one in said}
    ended = {label: one for label, one in newest.items() if one.step == "ended"}
    for label in {label_of(store_id, owner) for owner in lines.destroyed}:
        ended.pop(label, None)
    if ended:  # those that ended while this was read are no difference
        for owner in _lines(wire, tags).destroyed:
            ended.pop(label_of(store_id, owner), None)
    for one in ended.values():
        verdict.differs("an erasure after which its owner has a key again, or none at all", erasure=one.erasure)


def _lines(wire: Wire, tags: Sequence[str]) -> _Lines:
    found = _Lines({}, {})
    for tag in tags:
        keys = LogKeys(tag)
        for raw, line in pairs(wire, keys.secrets):
            if is_tombstone(line):
                found.destroyed[shown(raw)] = line
        head = whole_number(wire.call("HGET", keys.meta, "head"))
        for raw, line in pairs(wire, keys.readmitted):
            found.readmitted[shown(raw)] = line, head
    return found


def _compare_words(
    wire: Wire,
    store_id: str,
    tags: Sequence[str],
    wiped: _Wiped,
    told: Sequence[OwnerErasure | WordsErasure],
    verdict: Findings,
) -> None:
    """Report words erased without an erasure in the log, and erasures that left something else than they state."""
    known = {one.erasure for one in told if isinstance(one, WordsErasure)}
    for erasure, by in sorted(wiped.items()):
        if erasure not in known:
            verdict.differs(
                "entries that lost their words by no erasure that the log tells of",
                entries=[position_text(number, seq) for number, seqs in by.items() for seq in seqs][:MOST_NAMED],
            )
    ended = _ended_words(told)
    if others := [one for one in ended if _left_others(one, wiped)]:
        wiped = wiped_by(wire, tags)  # those that ended while the log was read are no difference
        whole = {label_of(store_id, owner) for owner in _lines(wire, tags).destroyed}
        for one in others:
            if one.label not in whole and _left_others(one, wiped):
                verdict.differs(
                    "an erasure of words that left other entries than it says",
                    erasure=one.erasure,
                    said=one.events,
                    entries=sum(map(len, wiped.get(one.erasure, {}).values())),
                )


def _ended_words(told: Sequence[OwnerErasure | WordsErasure]) -> list[WordsErasure]:
    """The newest end of each erasure of words, but of those whose owner went as a whole since: what they left went along."""
    found = dict[str, dict[str, WordsErasure]]()
    for one in told:
        if isinstance(one, WordsErasure):
            if one.step == "ended":
                found.setdefault(one.label, {})[one.erasure] = one
        elif one.step != "began":
            found.pop(one.label, None)
    return [one for of in found.values() for one in of.values()]


def _left_others(one: WordsErasure, wiped: _Wiped) -> bool:
    """Whether an erasure took the words of other entries than it states."""
    found = wiped.get(one.erasure, {})
    if not one.events:
        return bool(found)
    return [positions_digest(number, seqs) for number, seqs in found.items()] != [one.entries] or one.events != sum(
        map(len, found.values())
    )


def _said(wire: Wire, keys: LogKeys) -> Iterator[OwnerErasure | WordsErasure]:
    """Events about erasures, oldest first. An event that cannot be decoded is skipped: its partition's verification reports it."""
    after = 0
    while page := entries(wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", READ_COUNT), keys.tag):
        after = page[-1].seq
        for one in opened(wire, keys, [one for one in page if one.owner == ERASURES]):
            try:
                data = decode(one.kind, one.body).data
            except UndecodableEvent:
                continue
            if isinstance(data, OwnerErasure | WordsErasure):
                yield data


FIELDS = frozenset({b"store_id", b"partitions", b"tags", b"parameter_set", b"format"})
MOST_DIGITS = 19
EMBEDDER = frozenset({b"embedder", b"embedder_at"})
"""Both, or neither in a store of before."""


def verify_store(wire: Wire, *, store_id: str | None = None) -> Findings:
    """Compare what was fixed when the store was created. `store_id`: what it was, from outside Redis, where that is known."""
    verdict = Findings(-1)
    found = dict(pairs(wire, STORE_KEY))
    wanted = FIELDS | EMBEDDER if found.keys() & EMBEDDER else FIELDS
    wanted = wanted | (found.keys() & {RESTORED.encode(), BACKED_UP.encode()})
    if wire.seals.is_on:
        wanted = wanted | {SEALED.encode(), KEYS_FIELD.encode()} | (found.keys() & {KEYS_FROM.encode()})
    for name in sorted(found.keys() ^ wanted):
        verdict.differs("unexpected field of the store's identity", field=shown(name))
    if wire.seals.is_on and (check := found.get(SEALED.encode())) is not None:
        try:
            wire.seals.check_master(check)
        except StoreMismatch as error:
            verdict.differs("the line by which the master key of a sealed store is known", problem=error.message)
    _compare_backups(found, verdict)
    if found.keys() >= FIELDS:
        _compare_identity(found, store_id, verdict)
        if wire.seals.is_on and (count := found[b"partitions"]).isdigit() and 1 <= int(count) <= MAX_PARTITIONS:
            compare_erasures(wire, found[b"store_id"].decode("utf-8", "replace"), spread_tags(int(count)), verdict)
    for key, kind in keys_like(wire, "engramlog:*"):
        called = shown(key)
        if not (called in STORE_KEYS or is_day_key(called)) or kind != b"hash":
            verdict.differs("unexpected key", key=called)
    return verdict


def _compare_backups(found: dict[bytes, bytes], verdict: Findings) -> None:
    """Compare what a store says of the backup that it was restored from, and of its own last one."""
    try:
        restored = restored_by(found.get(RESTORED.encode()))
        if restored is not None and str(len(restored.heads)).encode() != found.get(b"partitions"):
            verdict.differs("what the store was restored from", stored=restored.told)
    except UNREADABLE:
        verdict.differs("what the store was restored from, unreadable", field=RESTORED)
    if (made := found.get(BACKED_UP.encode())) is not None and backed_up_at(made) is None:
        verdict.differs("when its last backup was made, unreadable", field=BACKED_UP)


def _compare_identity(found: dict[bytes, bytes], store_id: str | None, verdict: Findings) -> None:
    told = shown(found[b"store_id"])
    if store_id is not None and told != store_id:
        verdict.differs("the store's id", stored=told, known=store_id)
    partitions = found[b"partitions"]
    whole = len(partitions) <= 4 and is_number(partitions)
    if not (whole and 1 <= int(partitions) <= MAX_PARTITIONS) or found[b"tags"] != msgspec.json.encode(
        spread_tags(int(partitions))
    ):
        stored = shown(partitions)
        verdict.differs("the store's partitions and tags", stored=stored)
    if found[b"format"] != b"%d" % FORMAT:
        verdict.differs("the format of the store's log", known=FORMAT)
    if found[b"parameter_set"] != PARAMETER_SET.encode():
        verdict.differs("the store's parameter set", known=PARAMETER_SET)
    if found.keys() >= EMBEDDER:
        named, at = shown(found[b"embedder"]), found[b"embedder_at"]
        if not ((named == AUTO or embedder_kind(named) is not None) and at.isdigit() and len(at) <= MOST_DIGITS):
            verdict.differs("the store's embedder, and when it was chosen", stored=named[:MOST_CHARACTERS])
