"""What a process that stays lets go of, once an owner was erased by another: views, and keys that it had opened."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from engramlog_server.events.errors import StoreError
from engramlog_server.events.redis.secrets import read_lines
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.events.sealing.seals import is_tombstone
from engramlog_server.ops.every import Every
from engramlog_server.ops.store import OpenStore
from engramlog_server.projections.redis.store import slices

LOOK_SECONDS: Final = 5.0
AT_ONCE = 1_000


def watch_erased(store: OpenStore) -> Every:
    """Look every few seconds whether an owner of whom this process holds anything was erased. To be started."""

    def check() -> None:
        with suppress(StoreError):  # the next look finds them; questions about them are refused meanwhile
            forget_erased(store)

    return Every(LOOK_SECONDS, check, "erased owners", at_once=False)


def forget_erased(store: OpenStore) -> list[str]:
    """Let go of everything of owners who were erased; returns them. Raises StoreError."""
    seals, tags = store.client.seals, store.identity.tags
    held, gone = {*store.views.held_owners(), *seals.held_owners()}, list[str]()
    if not held:
        return gone
    wire = open_wire(store.client)
    try:
        for some in slices(sorted(held), AT_ONCE):
            gone += [owner for owner, line in read_lines(wire, tags, some).items() if is_tombstone(line)]
    finally:
        wire.close()
    for owner in gone:
        store.views.forget(owner)
        seals.forget(owner)
        store.log.forget(owner)
    return gone
