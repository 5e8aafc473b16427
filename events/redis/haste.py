"""Haste: of a Cluster a command waits for a failover or a moved slot, and an alarm, or a look at it, may not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engramlog_server.events.redis.wire import Wire


@contextmanager
def in_haste(wire: Wire, seconds: float = 0.0) -> Iterator[None]:
    """What is asked down a wire waits so long at most for what a Cluster cannot do yet; of one server nothing ever does."""
    patience, wire.patience = wire.patience, min(seconds, wire.patience)
    try:
        yield
    finally:
        wire.patience = patience
