"""A sealed store's log as it would lie in an open store: the same events, secrets and salts, folded up to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engramlog_server.events.envelope import Stored
from engramlog_server.events.partitions import SEALED_META, STORE_KEY, LogKeys
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import StoreClient
from engramlog_server.projections.fold.partition import Checkpoint
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.store import checkpoint_fields

SAME = {b"meta", b"heads", b"ids", b"ctl", b"lvl", b"del"}
"""Tables of the log that are the same in both."""
FIELDS = (b"t", b"i", b"o", b"e", b"r", b"p", b"l", b"d", b"c", b"s", b"w")
ALL = 1_000_000


def lay_open(sealed: StoreClient, target: StoreClient, tags: Sequence[str]) -> None:
    """Empty `target` but for which store it is, and write the log of the sealed store there, open. It is folded up to nothing."""
    identity: Any = target.hgetall(STORE_KEY)
    target.flushdb()
    target.hset(STORE_KEY, mapping=identity)
    for key in sealed.scan_iter():
        if key[:1] == b"{" and key.split(b"}:")[1].split(b":")[0] in SAME:
            target.restore(key, 0, sealed.dump(key), replace=True)  # type: ignore[arg-type]
    log = RedisEventLog(sealed, tags)
    for partition, tag in enumerate(tags):
        keys = LogKeys(tag)
        lines: Any = sealed.hgetall(keys.secrets)
        target.hdel(keys.meta, SEALED_META)
        secrets = sealed.seals.secrets({owner.decode(): line for owner, line in lines.items()})
        if secrets:
            target.hset(keys.secrets, mapping=secrets)  # type: ignore[arg-type]
        for one in log.read(partition, 0, ALL):
            target.execute_command("XADD", keys.stream, f"{one.seq}-0", *_words(one))
        live: Any = target.hget(keys.meta, "live")
        target.execute_command("HSET", BuildKeys(tag, live.decode()).checkpoint, *checkpoint_fields(Checkpoint()))
    log.close()


def _words(one: Stored) -> list[bytes]:
    recorded, principal, level, digests, committed, *clock = one.beside
    values = [
        one.kind.encode(),
        one.raw_id,
        one.owner.encode(),
        one.body,
        recorded,
        principal,
        level,
        digests,
        committed,
    ]
    return [part for pair in zip(FIELDS, [*values, one.salt, *clock], strict=False) for part in pair]
