"""Vectors in a verification: a model made them, which cannot be asked, so their form can be proven, and whose they are.

A vector of a text that no memory holds any more is a difference only where the embedding job looked at the owner since.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, unquote

import numpy as np

from engramlog_server.consumers.verify.encryption import Opening
from engramlog_server.consumers.verify.findings import LIES_OPEN, Findings, is_number, shown
from engramlog_server.consumers.verify.keys import Keys
from engramlog_server.consumers.verify.oracle import Oracle
from engramlog_server.events.encryption.cipher import VALUE_MARK, ValueCipher
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.redis.scan import pairs
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.embedding.meaning import KEY_BYTES, content_key, embedded_text
from engramlog_server.projections.embedding.vectors import VectorKeys, unpack_pieces, unpack_whole
from engramlog_server.projections.redis.builds import PIECES, VECTOR, BuildKeys, is_build, open_vector, version_of


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
