"""Removing salts that no entry has: a process that reserved them ended, or an append was refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.clock import redis_micros
from engramlog_server.events.redis.log import entries
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.sealing.cipher import BODY_MARK, salts_id
from engramlog_server.events.sealing.key_store import ID_SHIFT, UNUSED_SECONDS

PAGE = 1_000


def remove_unused_salts(
    wire: Wire, tags: Sequence[str], stop: Callable[[], bool] = lambda: False, *, after_seconds: int = UNUSED_SECONDS
) -> int:
    """Delete salts that were reserved so many seconds ago and that no entry of any partition has; how many.

    `stop`: whether to give up; then nothing is deleted. Raises StoreError.
    """
    before = (redis_micros(wire) // 1_000_000 - after_seconds) << ID_SHIFT
    unused = set(wire.seals.keys.salt_ids(before))
    for tag in tags if unused else ():
        keys, after = LogKeys(tag), 0
        while page := entries(wire.call("XRANGE", keys.stream, f"{after + 1}-0", "+", "COUNT", PAGE), tag):
            if stop():
                return 0
            unused.difference_update(salts_id(one.body) for one in page if one.body[:1] == BODY_MARK)
            after = page[-1].seq
    return wire.seals.keys.delete_salts(unused) if unused else 0
