"""Having every Redis of a store write its files again, so that nothing that was deleted is left in them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from engramlog_server.consumers.encryption.remnants import Rewritten, rewrite_files
from engramlog_server.events.errors import StoreError
from engramlog_server.events.redis.client import connect
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.ops.embedded.aof import DIRECTORY
from engramlog_server.ops.embedded.server import EmbeddedRedis
from engramlog_server.ops.settings import Settings


def rewrite_all(
    embedded: EmbeddedRedis | None, wire: Wire, settings: Settings, on_wait: Callable[[str], None], again: str
) -> Rewritten:
    """Have Redis write its files again, and the Redis of the queue too. `again`: the command that continues if this fails.

    Raises StoreUnavailable. What could not be done about the queue's is told as not proven.
    """
    done = rewrite_files(wire, on_wait=on_wait, again=again)
    if embedded is not None:
        folder = embedded.folder
        for left in (*folder.glob("temp-*"), *(folder / DIRECTORY).glob("temp-*")):
            left.unlink(missing_ok=True)  # what a killed Redis was writing
    if settings.queue_url is not None:
        client = connect(settings.queue_url, timeout=settings.redis_timeout)
        try:
            with closing(client), closing(open_wire(client)) as queue:
                found = rewrite_files(queue, on_wait=on_wait, again=again).not_proven
        except StoreError as error:
            found = [error.message]
        done.not_proven.extend(f"the Redis of the queue (ENGRAMLOG_QUEUE_URL): {one}" for one in found)
    return done
