"""Having Redis write its files again, so that nothing that was deleted is left in them; also in the folder of an embedded one."""

from __future__ import annotations

from collections.abc import Callable

from engramlog_server.consumers.encryption.remnants import Rewritten, rewrite_files
from engramlog_server.events.redis.wire import Wire
from engramlog_server.ops.embedded.aof import DIRECTORY
from engramlog_server.ops.embedded.server import EmbeddedRedis


def rewrite_all(embedded: EmbeddedRedis | None, wire: Wire, on_wait: Callable[[str], None], again: str) -> Rewritten:
    """Have Redis write its files again. `again`: the command that continues if this fails. Raises StoreUnavailable."""
    done = rewrite_files(wire, on_wait=on_wait, again=again)
    if embedded is not None:
        folder = embedded.folder
        for left in (*folder.glob("temp-*"), *(folder / DIRECTORY).glob("temp-*")):
            left.unlink(missing_ok=True)  # what a killed Redis was writing
    return done
