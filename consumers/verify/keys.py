"""Which keys a partition has, and whether each should be there: nothing lies in a store unaccounted for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import msgspec

from consumers.verify.ledger import Ledger
from consumers.verify.scan import keys_like, pairs
from consumers.verify.verdict import Findings
from events.partitions import (
    DEDUPE_BUCKETS,
    FENCED_META,
    MOVED,
    RESTORED,
    SEALED_META,
    Key,
    KeyOf,
    LogKeys,
    SealedKey,
    declared,
)
from events.redis.wire import Wire
from events.text.unreadable import UNREADABLE
from projections.embedding.vectors import OfModel, OfVectors, VectorKeys
from projections.fold.builds import BuildKeys, is_build

LOG_TABLES = declared(LogKeys, Key) | declared(VectorKeys, Key)
SEALED_TABLES = declared(LogKeys, SealedKey)
META_NUMBERS = (b"head", b"rec", b"gone", b"proved")
IS_SEALED = (SEALED_META.encode(), MOVED.encode())
"""The field, and its value, of a partition of a sealed store."""
META_TEXTS = (b"live", RESTORED.encode())
BUILD_TABLES, OWNER_TABLES = declared(BuildKeys, Key), declared(BuildKeys, KeyOf)
BUCKETS = declared(LogKeys, KeyOf)
MODEL_TABLES, VECTOR_TABLES = declared(VectorKeys, OfModel), declared(VectorKeys, OfVectors)


class Keys(NamedTuple):
    """A partition's keys by what they are."""

    owners: set[str]
    """Owners that have a key in the build that is verified."""
    builds: set[str]
    """Every build that has a key."""
    models: set[tuple[bytes, bytes]]
    """Table of a model's marks, and the model as it stands in the key."""
    buckets: set[int]
    """Buckets of dedupe that have a key."""
    vectors: set[tuple[bytes, bytes, str]]
    """Table of vectors, model, owner."""


def scan_partition(wire: Wire, keys: BuildKeys, verdict: Findings) -> Keys | None:
    """Every key of a partition; what no release writes is told. None where a key is of another type than it must be."""
    prefix = f"{{{keys.tag}}}:".encode()
    found, readable = Keys(set(), set(), set(), set(), set()), True
    for key, kind in keys_like(wire, f"{{{keys.tag}}}:*"):
        expected = _sorted_in(key.removeprefix(prefix), keys.build, found, sealed=wire.seals.is_on)
        if expected is None:
            verdict.differs("a key that nothing writes", key=key.decode("utf-8", "backslashreplace"))
        elif kind != expected:
            readable = False
            told = {"type": kind.decode(), "expected": expected.decode()}
            verdict.differs("a key of another type", key=key.decode("utf-8", "backslashreplace"), **told)
    return found if readable else None


def _sorted_in(name: bytes, build: str, found: Keys, *, sealed: bool) -> bytes | None:  # noqa: PLR0911 - a line a kind of key
    """Take a key's name in; gives the type it must have, None for a name that nothing writes."""
    table, colon, rest = name.partition(b":")
    try:
        if not colon:
            return LOG_TABLES.get(table) or (SEALED_TABLES.get(table) if sealed else None)
        if table in BUCKETS:
            if not (rest.isdigit() and b"%d" % int(rest) == rest and int(rest) < DEDUPE_BUCKETS):
                return None
            found.buckets.add(int(rest))
            return b"hash"
        if table in MODEL_TABLES and (rest or table == b"vea"):  # a walk that only takes vectors away has no model
            found.models.add((table, rest))
            return b"hash"
        if table in VECTOR_TABLES:
            model, colon, owner = rest.partition(b":")
            found.vectors.add((table, model, owner.decode()))
            return b"hash" if colon else None
        return _of_build(table.decode(), rest, build, found)
    except UnicodeDecodeError:
        return None


def _of_build(name: str, rest: bytes, build: str, found: Keys) -> bytes | None:
    table, colon, owner = rest.partition(b":")
    expected = (OWNER_TABLES if colon else BUILD_TABLES).get(table)
    if expected is None or not is_build(name):
        return None
    found.builds.add(name)
    if colon and name == build:
        found.owners.add(owner.decode())
    return expected


def compare_builds(wire: Wire, keys: BuildKeys, builds: set[str], now_ms: int, verdict: Findings) -> None:
    """Tell of builds that are neither live, nor on their way out, nor being made."""
    answer = wire.call("HGETALL", keys.log.meta)
    meta = dict(zip(answer[::2], answer[1::2], strict=True))
    known = {keys.build, meta.get(b"live", b"").decode("utf-8", "replace")}
    for name, value in meta.items():
        if name.startswith(b"old:") and value.isdigit() and is_build(name[4:].decode("utf-8", "replace")):
            known.add(name[4:].decode())
        elif (
            (name in META_NUMBERS and value.isdigit() and b"%d" % int(value) == value)
            or (name, value) == IS_SEALED
            or (name.startswith(FENCED_META.encode()) and wire.many and wire.seals.is_on)
        ):
            continue
        elif name not in META_TEXTS:
            verdict.differs("meta that nothing writes", field=name.decode("utf-8", "backslashreplace"))
    for build in sorted(builds - known):
        ends = wire.call("HGET", BuildKeys(keys.tag, build).checkpoint, "until") or b"0"
        if not ends.isdigit() or int(ends) < now_ms:
            cure = "engramlog rebuild goes on with it where it can, engramlog rebuild --drop-left drops it"
            verdict.differs("a build that is neither live nor being made", build=build, cure=cure)


def compare_recorded(wire: Wire, keys: BuildKeys, ledger: Ledger, verdict: Findings) -> None:
    """Tell where the newest entry's time is not the one that the next append goes on from."""
    head, rec = wire.call("HMGET", keys.log.meta, "head", "rec")
    if (head or b"0") == b"%d" % ledger.seq and rec != (b"%d" % ledger.recorded if ledger.recorded else None):
        verdict.differs("when the newest event was recorded", stored=(rec or b"").decode("utf-8", "backslashreplace"))


_DELETIONS = msgspec.msgpack.Decoder(dict[str, tuple[int, int]])


def compare_deletions(
    wire: Wire,
    keys: BuildKeys,
    locked: Collection[str],
    memories: Callable[[str], Collection[str]],
    read_on: Callable[[], None],
    verdict: Findings,
) -> None:
    """Tell of deletions that nobody can know of. When the sweep saw them first is about now: no log can prove it.

    `locked`: owners who are left out. `read_on`: has `memories` know the log up to its head of now: a deletion is noted after it
    was appended.
    """
    for raw, value in pairs(wire, keys.log.deletions):
        owner = raw.decode("utf-8", "backslashreplace")
        if owner in locked:
            continue
        try:
            seen = _DELETIONS.decode(value)
        except UNREADABLE:
            verdict.differs("since when deletions are known, unreadable", owner=owner)
            continue
        if seen.keys() - set(memories(owner)):
            read_on()  # what was deleted may have come while others were compared
        unknown = sorted(seen.keys() - set(memories(owner)))
        if unknown or not seen or msgspec.msgpack.encode(seen) != value:
            verdict.differs("deletions of memories that the log does not know", owner=owner, memories=unknown[:20])


CHECKPOINT_NUMBERS = (b"seq", b"memories", b"waiting", b"full", b"refused", b"epoch", b"until")


def compare_fields(wire: Wire, keys: BuildKeys, owners: Sequence[str], verdict: Findings) -> None:
    """Tell of fields of the checkpoint and of operators' requests that nothing writes.

    The lease (epoch, holder, until) is about now, not about the log: of it only the form can be wrong.
    """
    for name, value in pairs(wire, keys.checkpoint):
        if name in CHECKPOINT_NUMBERS:
            fine = value.isdigit() and b"%d" % int(value) == value
        elif name == b"digest":
            fine = value == value.lower().lstrip(b"0 +-_") or value == b"0"
        else:
            fine = name in (b"head", b"holder")
        if not fine:
            verdict.differs("a checkpoint's field that nothing writes", field=name.decode("utf-8", "backslashreplace"))
    known = set(owners)
    for request, owner in pairs(wire, keys.log.control):
        if request != b"retry:" + owner or owner.decode("utf-8", "replace") not in known:
            told = request.decode("utf-8", "backslashreplace")
            verdict.differs("an operator's request that nothing writes", request=told)
