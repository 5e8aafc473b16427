"""A partition's keys: which there are, which should be there, those of its log (dedupe, heads) against the log, and its vectors.

Producers go on meanwhile. What was appended up to the head at the beginning must be there and right; later events may be there,
and are right then.

A model made the vectors, so only their form and their owners can be checked. A vector of a text that no memory holds any more is
a difference only if the embedding job looked at the owner since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

import msgspec
import numpy as np

from engramlog_server.consumers.verify.encryption import Opening
from engramlog_server.consumers.verify.findings import (
    LIES_OPEN,
    Findings,
    Ledger,
    Oracle,
    bucket_number,
    dedupe_value,
    is_number,
    moves_head,
    shown,
)
from engramlog_server.events.cipher import VALUE_MARK, ValueCipher
from engramlog_server.events.envelope import Stored, dedupe_field
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.partitions import (
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
    dedupe_bucket,
    position_text,
)
from engramlog_server.events.redis.wire import Wire, keys_like, pairs, tables
from engramlog_server.events.text import UNREADABLE
from engramlog_server.projections.embedding.meaning import KEY_BYTES, content_key, embedded_text
from engramlog_server.projections.embedding.vectors import OfModel, OfVectors, VectorKeys, unpack_pieces, unpack_whole
from engramlog_server.projections.redis.builds import PIECES, VECTOR, BuildKeys, is_build, open_vector, version_of

_LOG_TABLES = declared(LogKeys, Key) | declared(VectorKeys, Key)
_SEALED_TABLES = declared(LogKeys, SealedKey)
_META_NUMBERS = (b"head", b"rec", b"gone", b"proved")
_IS_SEALED = (SEALED_META.encode(), MOVED.encode())
"""The field, and its value, of a partition of a sealed store."""
_META_TEXTS = (b"live", RESTORED.encode())
BUILD_TABLES, OWNER_TABLES = declared(BuildKeys, Key), declared(BuildKeys, KeyOf)
_BUCKETS = declared(LogKeys, KeyOf)
MODEL_TABLES, VECTOR_TABLES = declared(VectorKeys, OfModel), declared(VectorKeys, OfVectors)


class Keys(NamedTuple):
    """A partition's keys by what they are."""

    owners: set[str]
    """Owners that have a key in the build that is verified."""
    builds: set[str]
    """Every build that has a key."""
    models: set[tuple[bytes, bytes]]
    """Table of a model's marks, and the model as written in the key."""
    buckets: set[int]
    """Buckets of dedupe that have a key."""
    vectors: set[tuple[bytes, bytes, str]]
    """Table of vectors, model, owner."""


def scan_partition(wire: Wire, keys: BuildKeys, verdict: Findings) -> Keys | None:
    """Every key of a partition; unexpected keys are reported. None if a key has the wrong type."""
    prefix = f"{{{keys.tag}}}:".encode()
    found, readable = Keys(set(), set(), set(), set(), set()), True
    for key, kind in keys_like(wire, f"{{{keys.tag}}}:*"):
        expected = _sorted_in(key.removeprefix(prefix), keys.build, found, sealed=wire.seals.is_on)
        if expected is None:
            verdict.differs("unexpected key", key=shown(key))
        elif kind != expected:
            readable = False
            told = {"type": kind.decode(), "expected": expected.decode()}
            verdict.differs("a key of another type", key=shown(key), **told)
    return found if readable else None


def _sorted_in(name: bytes, build: str, found: Keys, *, sealed: bool) -> bytes | None:  # noqa: PLR0911 - a line a kind of key
    """Note a key by its name; gives the type it must have, None for an unexpected name."""
    table, colon, rest = name.partition(b":")
    try:
        if not colon:
            return _LOG_TABLES.get(table) or (_SEALED_TABLES.get(table) if sealed else None)
        if table in _BUCKETS:
            if not (is_number(rest) and int(rest) < DEDUPE_BUCKETS):
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
    """Report builds that are neither live, nor being retired, nor being made."""
    answer = wire.call("HGETALL", keys.log.meta)
    meta = dict(zip(answer[::2], answer[1::2], strict=True))
    known = {keys.build, meta.get(b"live", b"").decode("utf-8", "replace")}
    for name, value in meta.items():
        if name.startswith(b"old:") and value.isdigit() and is_build(name[4:].decode("utf-8", "replace")):
            known.add(name[4:].decode())
        elif (
            (name in _META_NUMBERS and is_number(value))
            or (name, value) == _IS_SEALED
            or (name.startswith(FENCED_META.encode()) and wire.many and wire.seals.is_on)
        ):
            continue
        elif name not in _META_TEXTS:
            verdict.differs("unexpected field of meta", field=shown(name))
    for build in sorted(builds - known):
        ends = wire.call("HGET", BuildKeys(keys.tag, build).checkpoint, "until") or b"0"
        if not ends.isdigit() or int(ends) < now_ms:
            cure = "engramlog rebuild goes on with it where it can, engramlog rebuild --drop-left drops it"
            verdict.differs("a build that is neither live nor being made", build=build, cure=cure)


def compare_recorded(wire: Wire, keys: BuildKeys, ledger: Ledger, verdict: Findings) -> None:
    """Report if the newest entry's time is not the one from which the next append goes on."""
    head, rec = wire.call("HMGET", keys.log.meta, "head", "rec")
    if (head or b"0") == b"%d" % ledger.seq and rec != (b"%d" % ledger.recorded if ledger.recorded else None):
        verdict.differs("when the newest event was recorded", stored=shown(rec or b""))


_DELETIONS = msgspec.msgpack.Decoder(dict[str, tuple[int, int]])


def compare_deletions(
    wire: Wire,
    keys: BuildKeys,
    locked: Collection[str],
    memories: Callable[[str], Collection[str]],
    read_on: Callable[[], None],
    verdict: Findings,
) -> None:
    """Report deletions without an event. When the sweep saw them first cannot be proved by a log.

    `locked`: owners who are left out. `read_on`: has `memories` know the log up to its head of now: a deletion is noted after it
    was appended.
    """
    for raw, value in pairs(wire, keys.log.deletions):
        owner = shown(raw)
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


_CHECKPOINT_NUMBERS = (b"seq", b"memories", b"waiting", b"full", b"refused", b"epoch", b"until")


def compare_fields(wire: Wire, keys: BuildKeys, owners: Sequence[str], verdict: Findings) -> None:
    """Report unexpected fields of the checkpoint and unexpected requests of operators.

    The lease (epoch, holder, until) is about now, not about the log: of it only the form can be wrong.
    """
    for name, value in pairs(wire, keys.checkpoint):
        if name in _CHECKPOINT_NUMBERS:
            fine = is_number(value)
        elif name == b"digest":
            fine = value == value.lower().lstrip(b"0 +-_") or value == b"0"
        else:
            fine = name in (b"head", b"holder")
        if not fine:
            verdict.differs("unexpected field of a checkpoint", field=shown(name))
    known = set(owners)
    for request, owner in pairs(wire, keys.log.control):
        if request != b"retry:" + owner or owner.decode("utf-8", "replace") not in known:
            told = shown(request)
            verdict.differs("unexpected request of an operator", request=told)


_MOST_READ_AGAIN = 16
"""Buckets that differ and are read again, id by id."""
MOST_NAMED = 20
Read = Callable[[int, int], Iterator[list[Stored]]]
"""Batches of the log after one seq up to another."""
_SecretsOf = Callable[[list[Stored]], Mapping[str, bytes]]
"""The secrets of a batch's owners."""


class _Newer(NamedTuple):
    """What was appended after the head at which the comparison began."""

    values: dict[bytes, bytes]
    left_out: dict[bytes, int]
    heads: dict[str, set[int]]


def compare_log_keys(
    wire: Wire, keys: LogKeys, buckets: set[int], ledger: Ledger, read: Read, secrets_of: _SecretsOf, verdict: Findings
) -> None:
    """Report differences. The ledger was fed up to the head of a moment ago; this reads on. `buckets`: those that have a key."""
    heads = dict(pairs(wire, keys.heads))
    wrong, after = _compare_buckets(wire, keys, buckets, ledger, verdict)
    newer = _Newer({}, {}, defaultdict(set))
    head = int(wire.call("HGET", keys.meta, "head") or 0)
    for batch in read(ledger.seq, head):
        secrets = secrets_of(batch)
        newer.values.update((field, value) for _, field, value in _deduped(batch, secrets))
        for one in batch:
            if one.owner not in secrets:
                newer.left_out[dedupe_field(one.owner, one.raw_id)] = one.seq
            if moves_head(one):
                newer.heads[one.owner].add(one.seq)
    for raw_id, value in after.items():
        if newer.values.get(raw_id) != value and newer.left_out.get(raw_id) != _seq(value):
            verdict.differs("dedupe of an event that is not in the log", event=raw_id.hex(), stored=value[8:].hex())
    _compare_heads(ledger, heads, newer, verdict)
    _name_wrong(wire, keys, ledger, wrong, read, secrets_of, verdict)


def _deduped(batch: list[Stored], secrets: Mapping[str, bytes]) -> Iterator[tuple[Stored, bytes, bytes]]:
    """Each entry with its field and value in dedupe; owners without a secret were reported."""
    for one in batch:
        if (secret := secrets.get(one.owner)) is not None:
            yield one, dedupe_field(one.owner, one.raw_id), dedupe_value(one, secret)


def _compare_buckets(
    wire: Wire, keys: LogKeys, buckets: set[int], ledger: Ledger, verdict: Findings
) -> tuple[list[int], dict[bytes, bytes]]:
    """Buckets with another number than the log's, and their entries of events after the ledger's."""
    wrong, after, met = [], dict[bytes, bytes](), set[bytes]()
    filled = {bucket for bucket, number in enumerate(ledger.buckets) if number}
    asked = {keys.dedupe_of(bucket): bucket for bucket in sorted(buckets | filled)}
    for key, found in tables(wire, list(asked)):
        bucket, held = asked[key], dict[bytes, bytes]()
        for raw_id, value in found:
            seq = _seq(value)
            if seq is None or len(raw_id) != 16 or dedupe_bucket(raw_id) != bucket:
                verdict.differs("dedupe that no append wrote", bucket=bucket, event=raw_id.hex())
            elif seq > ledger.seq:
                after[raw_id] = value
            elif ledger.left_out.get(raw_id) == seq:
                met.add(raw_id)
            else:
                held[raw_id] = value
        if bucket_number(held) != ledger.buckets[bucket]:
            wrong.append(bucket)
    if gone := len(ledger.left_out) - len(met):
        verdict.differs("dedupe of events of owners whose keys cannot be had", missing=gone)
    return wrong, after


def _seq(value: bytes) -> int | None:
    """The seq in a bucket's value; None if no append writes such a value."""
    return int(value[8:]) if is_number(value[8:]) else None


def _compare_heads(ledger: Ledger, found: dict[bytes, bytes], newer: _Newer, verdict: Findings) -> None:
    expected = {owner.encode(): seq for owner, seq in ledger.heads.items()}
    moved = {owner.encode(): seqs for owner, seqs in newer.heads.items()}
    for owner in sorted(expected.keys() | found.keys()):
        allowed = {b"%d" % seq for seq in {expected.get(owner, 0), *moved.get(owner, ())} if seq}
        if found.get(owner) not in allowed:
            stored = shown(found.get(owner, b""))
            name = shown(owner)
            verdict.differs("an owner's head, `expected_head`", owner=name, stored=stored, log=expected.get(owner, 0))


def _name_wrong(
    wire: Wire, keys: LogKeys, ledger: Ledger, wrong: list[int], read: Read, secrets_of: _SecretsOf, verdict: Findings
) -> None:
    """Report which ids make a bucket differ."""
    expected: dict[int, dict[bytes, bytes]] = {bucket: {} for bucket in wrong[:_MOST_READ_AGAIN]}
    if expected:
        for batch in read(0, ledger.seq):
            for _, field, value in _deduped(batch, secrets_of(batch)):
                if (bucket := dedupe_bucket(field)) in expected and field not in ledger.left_out:
                    expected[bucket][field] = value
    for bucket, mine in expected.items():
        found = pairs(wire, keys.dedupe_of(bucket))
        held = {one: value for one, value in found if ledger.left_out.get(one, -1) != _seq(value)}
        ids = [raw_id for raw_id in mine.keys() | held.keys() if mine.get(raw_id) != held.get(raw_id)]
        places = [position_text(verdict.partition, _seq(mine[one]) or 0) if one in mine else one.hex() for one in ids]
        verdict.differs("dedupe of events", bucket=bucket, events=sorted(places)[:MOST_NAMED])
    for bucket in wrong[_MOST_READ_AGAIN:]:
        verdict.differs("dedupe of events", bucket=bucket)


def compare_vectors(
    wire: Wire, keys: BuildKeys, found: Keys, oracle: Oracle, opening: Opening, verdict: Findings
) -> None:
    """Report vectors and marks that the embedding job does not write. In a sealed store each is opened first."""
    tables = VectorKeys(keys.tag)
    for mark, named in sorted(found.models):
        model = unquote(named.decode())
        key = tables.changes(model) if mark == b"ven" else tables.seen(model)
        for raw, value in pairs(wire, key):
            known = (owner := raw.decode("utf-8", "replace")) in oracle.owners or owner in opening.locked
            if not (known and (is_number(value) if mark == b"ven" else _is_mark(value))):
                verdict.differs("unexpected mark of vectors", key=key, owner=shown(raw))
    models = {unquote(named.decode()).encode() for _, named in found.models}
    # Walks of before marked partitions without owners too.
    looked = any(owner.state.applied for owner in oracle.owners.values())
    for model_raw, at in pairs(wire, tables.models):
        build, _, seq = at.partition(b"/")
        unknown = looked and model_raw not in models and not _walked_since(wire, tables, shown(model_raw))
        if unknown or (at != b"0" and not (is_build(shown(build)) and is_number(seq))):
            verdict.differs("unexpected mark of vectors", key=tables.models, model=shown(model_raw))
    walks = [unquote(named.decode()) for mark, named in sorted(found.models) if mark == b"vea"]
    for table, named, owner in sorted(found.vectors):
        if owner in opening.locked:
            continue
        looks = [mark.split(b"\t") for walk in walks if (mark := wire.call("HGET", tables.seen(walk), owner))]
        cipher = opening.ciphers([owner]).get(owner) if opening.is_on else None
        if owner not in opening.locked:  # its key may have gone since
            _compare_owner(wire, keys, (table, unquote(named.decode())), owner, looks, oracle, cipher, verdict)


def _walked_since(wire: Wire, tables: VectorKeys, model: str) -> bool:
    """Whether a walk by a model has left something of its own by now: it may have begun since keys were looked through."""
    return bool(wire.call("EXISTS", tables.changes(model), tables.seen(model)))


def _compare_owner(
    wire: Wire,
    keys: BuildKeys,
    where: tuple[bytes, str],
    owner: str,
    looks: Sequence[Sequence[bytes]],
    oracle: Oracle,
    cipher: ValueCipher | None,
    verdict: Findings,
) -> None:
    """`where`: table and model; `looks`: what walks noted of the owner, in parts; `cipher`: what opens the owner's values."""
    (table, model), tables = where, VectorKeys(keys.tag)
    key = tables.wholes(model, owner) if table == b"vec" else tables.pieces(model, owner)
    if quote(model, safe="") not in key or owner not in oracle.owners:
        verdict.differs("vectors of an owner that the log does not know", key=key)
        return
    mine = oracle.owners[owner]
    version = f"{version_of(keys.build)}/{mine.state.applied}".encode()
    marks = [mark for mark in looks if mark[0] == version]
    looked_at, filled = bool(marks), any(mark[-1] == model.encode() for mark in marks)
    if not mine.secret:
        verdict.differs("vectors of an owner without a secret", key=key)
        return
    wanted = {content_key(mine.secret, text) for memory in mine.memories.values() if (text := embedded_text(memory))}
    sizes: set[int] = set()
    for name, raw in pairs(wire, key):
        if cipher is not None and raw[:1] != VALUE_MARK:
            verdict.differs(f"a vector that {LIES_OPEN}", key=key, content=name.hex())
            continue
        try:
            packed = open_vector(cipher, VECTOR if table == b"vec" else PIECES, owner, model, name, raw)
            vectors = unpack_whole(packed) if table == b"vec" else unpack_pieces(packed)
        except DamagedState:
            verdict.differs("a vector that cannot be read", key=key, content=name.hex())
            continue
        sizes.add(vectors.shape[-1])
        if not np.isfinite(vectors).all():
            verdict.differs("a vector that is not finite", key=key, content=name.hex())
        if len(name) != KEY_BYTES or (looked_at and name not in wanted):
            verdict.differs("a vector of a text that no memory holds", key=key, content=name.hex())
    if filled and len(sizes) > 1:
        verdict.differs("vectors of several sizes under one model", key=key, sizes=sorted(sizes))


def _is_mark(value: bytes) -> bool:
    """A version, and what counted for the owner where that is known: as it stands, its name, how many memories, since
    0.3 how many of them are withheld for others and a digest of what is rejected, the model."""
    version, *chose = value.split(b"\t")
    parts = version.split(b"/")
    counts = chose[2:-1] if len(chose) == 4 else chose[2:4] if len(chose) == 6 else None
    told = not chose or (counts is not None and all(map(is_number, counts)))
    return len(parts) == 2 and all(map(is_number, parts)) and told
