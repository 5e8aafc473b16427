"""What a Redis promises of an answered write: whether it is on disk, and whether the next start may drop it without a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import redis

from engramlog_server.events.redis.wire import Wire

KEPT_BY: Mapping[str, frozenset[str]] = {
    "appendonly": frozenset({"yes"}),
    "appendfsync": frozenset({"always"}),
    "no-appendfsync-on-rewrite": frozenset({"no"}),
    "aof-load-truncated": frozenset({"no"}),
    "maxmemory-policy": frozenset({"noeviction", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"}),
}
"""Settings, and their values, under which an answered write is on disk, a start with a torn file is refused instead of cutting it,
and no key of ours (none has an expiry) is evicted. docs/explanation/log.md says what no setting shows."""


_MADE_UP = frozenset({"appendfsync", "no-appendfsync-on-rewrite"})
"""Of these settings those that a wait for the disk (WAITAOF) makes up for."""


class Promise(NamedTuple):
    """What a server promises of an answered write."""

    kept: bool | None
    """Whether it is on disk and stays; None where the server does not tell."""
    kept_once_synced: bool | None
    """Whether it stays once it is on disk; None likewise."""

    def told(self, on_disk: bool | None) -> bool | None:
        """Whether a write is on disk and stays. `on_disk`: what the wait for the disk said, None where nothing was waited for."""
        if self.kept or on_disk is None:
            return self.kept
        return on_disk and self.kept_once_synced is not False


def read_promise(wire: Wire) -> Promise:
    """What the server behind a wire promises."""
    settings = read_settings(wire)
    if settings is None:
        return Promise(None, None)
    lacking = {name for name, value in settings.items() if value not in KEPT_BY[name]}
    return Promise(not lacking, lacking <= _MADE_UP)


def read_durability(wire: Wire) -> bool | None:
    """Whether every answered write is on disk and stays; None where the server does not tell."""
    return read_promise(wire).kept


def read_settings(wire: Wire) -> dict[str, str] | None:
    """The settings of `KEPT_BY` as they are; None where the server does not tell."""
    answers = wire.pipeline([["CONFIG", "GET", name] for name in KEPT_BY])
    if any(isinstance(answer, redis.ResponseError) or len(answer) != 2 for answer in answers):
        return None
    return {name.decode(): value.decode() for name, value in answers}
