"""What a Redis promises of an answered write: whether it is on disk, and whether the next start may drop it without a word."""

from __future__ import annotations

from collections.abc import Mapping

import redis

from events.redis.wire import Wire

KEPT_BY: Mapping[str, frozenset[str]] = {
    "appendonly": frozenset({"yes"}),
    "appendfsync": frozenset({"always"}),
    "no-appendfsync-on-rewrite": frozenset({"no"}),
    "aof-load-truncated": frozenset({"no"}),
    "maxmemory-policy": frozenset({"noeviction", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}),
}
"""Settings, and their values, under which an answered write is on disk, a start with a torn file is refused instead of cutting it,
and no key of ours (none has an expiry) is evicted. docs/operating.md says what no setting tells."""


def read_durability(wire: Wire) -> bool | None:
    """Whether every answered write is on disk and stays; None where the server does not tell."""
    settings = read_settings(wire)
    return None if settings is None else all(value in KEPT_BY[name] for name, value in settings.items())


def read_settings(wire: Wire) -> dict[str, str] | None:
    """The settings of `KEPT_BY` as they are; None where the server does not tell."""
    answers = wire.pipeline([["CONFIG", "GET", name] for name in KEPT_BY])
    if any(isinstance(answer, redis.ResponseError) or len(answer) != 2 for answer in answers):
        return None
    return {name.decode(): value.decode() for name, value in answers}
