"""Having Redis write its files anew, so that nothing of what is gone is left in them; an embedded one's folder is looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from engramlog_server.consumers.encryption.remnants import Rewritten, rewrite_files
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.redis.wire import Wire
from engramlog_server.ops.embedded.aof import DIRECTORY, SINGLE
from engramlog_server.ops.embedded.server import EmbeddedRedis

GONE_SECONDS = 60.0
"""How long files that Redis let go may take to leave its folder."""


def rewrite_all(embedded: EmbeddedRedis | None, wire: Wire, on_wait: Callable[[str], None], again: str) -> Rewritten:
    """Have Redis write its files anew; of an embedded one see to it that none of before is left. `again`: the command that goes on
    where that fails. Raises StoreUnavailable."""
    if embedded is None:
        return rewrite_files(wire, on_wait=on_wait, again=again)
    folder = embedded.folder
    before = _files(folder)
    done = rewrite_files(wire, on_wait=on_wait, again=again)
    for left in (*folder.glob("temp-*"), *(folder / DIRECTORY).glob("temp-*")):
        left.unlink(missing_ok=True)  # what a killed Redis was writing
    end = monotonic() + GONE_SECONDS
    while left_over := sorted(str(path) for _, path in before & _files(folder)):
        if monotonic() > end:
            raise StoreUnavailable(
                f"{left_over[0]} was to go when Redis wrote its append-only file anew, and still holds words; look at"
                f" {folder / 'redis.log'}, and run `{again}` again",
                retry_after=10,
            )
        sleep(0.05)
    return done


def _files(folder: Path) -> set[tuple[int, Path]]:
    """The append-only files of a folder by what they are, not by their names alone; a manifest holds none of the log."""
    found = set[tuple[int, Path]]()
    for path in (folder / SINGLE, *(folder / DIRECTORY).glob(f"{SINGLE}.*.*.*")):
        try:
            found.add((path.stat().st_ino, path))
        except FileNotFoundError:
            continue
    return found
