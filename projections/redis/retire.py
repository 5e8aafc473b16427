"""Old builds leave in pieces, ten minutes after a switch: readers that still hold one begin again."""

from __future__ import annotations

from collections.abc import Callable

from engramlog_server.events.partitions import LogKeys
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.fold.builds import BuildKeys

KEPT_MS = 600_000
_OWNERS_A_PIECE = 50


def drop_retired_builds(wire: Wire, tag: str, now_ms: int, kept_ms: int = KEPT_MS) -> list[str]:
    """Drop a partition's builds that were replaced long enough ago; gives their names."""
    meta = LogKeys(tag).meta
    answer = wire.call("HGETALL", meta)
    retired = {
        name.decode()[4:]: int(when)
        for name, when in zip(answer[::2], answer[1::2], strict=True)
        if name.startswith(b"old:")
    }
    due = [build for build, when in retired.items() if now_ms - when >= kept_ms]
    for build in due:
        drop_build(wire, BuildKeys(tag, build))
        wire.call("HDEL", meta, f"old:{build}")
    return due


def drop_build(wire: Wire, keys: BuildKeys) -> None:
    """Unlink every key of a build, some owners at a time; what names the owners goes last, so a crash resumes."""
    drop_tables(wire, keys)
    wire.call("UNLINK", keys.checkpoint)


def drop_tables(wire: Wire, keys: BuildKeys, between: Callable[[], None] = lambda: None) -> None:
    """The same but for its checkpoint, whose epoch fences whoever folded it. `between` is called before each piece."""
    names: set[str] = set()
    for table in (keys.owners, keys.quarantine):
        cursor = "0"
        while True:
            cursor_raw, page = wire.call("HSCAN", table, cursor, "COUNT", 500)
            names.update(name.decode() for name in page[::2])
            cursor = cursor_raw.decode()
            if cursor == "0":
                break
    owners = sorted(names)
    for at in range(0, len(owners), _OWNERS_A_PIECE):
        between()
        piece = owners[at : at + _OWNERS_A_PIECE]
        wire.call("UNLINK", *(key for owner in piece for key in keys.of_owner(owner)))
    wire.call("UNLINK", keys.owners, keys.quarantine)
