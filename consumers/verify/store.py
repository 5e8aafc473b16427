"""Data of no partition: the store's identity, and other keys."""

from __future__ import annotations

import msgspec

from engramlog_server.consumers.verify.erasures import compare_erasures
from engramlog_server.consumers.verify.findings import Findings
from engramlog_server.events.errors import StoreMismatch
from engramlog_server.events.parameters import PARAMETER_SET
from engramlog_server.events.partitions import (
    FORMAT,
    MAX_PARTITIONS,
    RESTORED,
    SEALS_FROM,
    STORE_KEY,
    STORE_KEYS,
    spread_tags,
)
from engramlog_server.events.redis.scan import keys_like, pairs
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.key_store import KEYS_FIELD
from engramlog_server.events.text.embedder_names import AUTO, MOST_NAMED
from engramlog_server.events.text.unreadable import UNREADABLE
from engramlog_server.projections.embedding.names import embedder_kind
from engramlog_server.projections.redis.create import SEALED
from engramlog_server.projections.redis.model_uses import is_day_key
from engramlog_server.projections.redis.restored import BACKED_UP, backed_up_at, restored_by

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
        wanted = wanted | {SEALED.encode(), KEYS_FIELD.encode()} | (found.keys() & {SEALS_FROM.encode()})
    for name in sorted(found.keys() ^ wanted):
        verdict.differs("the store's identity, as nothing writes it", field=name.decode("utf-8", "backslashreplace"))
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
        called = key.decode("utf-8", "backslashreplace")
        if not (called in STORE_KEYS or is_day_key(called)) or kind != b"hash":
            verdict.differs("a key that nothing writes", key=called)
    return verdict


def _compare_backups(found: dict[bytes, bytes], verdict: Findings) -> None:
    """What a store says of the backup that it was restored from, and of its own last one."""
    try:
        restored = restored_by(found.get(RESTORED.encode()))
        if restored is not None and str(len(restored.heads)).encode() != found.get(b"partitions"):
            verdict.differs("what the store was restored from", stored=restored.told)
    except UNREADABLE:
        verdict.differs("what the store was restored from, unreadable", field=RESTORED)
    if (made := found.get(BACKED_UP.encode())) is not None and backed_up_at(made) is None:
        verdict.differs("when its last backup was made, unreadable", field=BACKED_UP)


def _compare_identity(found: dict[bytes, bytes], store_id: str | None, verdict: Findings) -> None:
    told = found[b"store_id"].decode("utf-8", "backslashreplace")
    if store_id is not None and told != store_id:
        verdict.differs("the store's id", stored=told, known=store_id)
    partitions = found[b"partitions"]
    whole = partitions.isdigit() and len(partitions) <= 4 and b"%d" % int(partitions) == partitions
    if not (whole and 1 <= int(partitions) <= MAX_PARTITIONS) or found[b"tags"] != msgspec.json.encode(
        spread_tags(int(partitions))
    ):
        stored = partitions.decode("utf-8", "backslashreplace")
        verdict.differs("the store's partitions and tags", stored=stored)
    if found[b"format"] != b"%d" % FORMAT:
        verdict.differs("the format of the store's log", known=FORMAT)
    if found[b"parameter_set"] != PARAMETER_SET.encode():
        verdict.differs("the store's parameter set", known=PARAMETER_SET)
    if found.keys() >= EMBEDDER:
        named, at = found[b"embedder"].decode("utf-8", "backslashreplace"), found[b"embedder_at"]
        if not ((named == AUTO or embedder_kind(named) is not None) and at.isdigit() and len(at) <= MOST_DIGITS):
            verdict.differs("the store's embedder, and when it was chosen", stored=named[:MOST_NAMED])
