"""What a rebuild of several partitions has done, kept in the store: one that was killed is gone on with; and what it left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from engramlog_server.events.alarms import Alarms
from engramlog_server.events.partitions import REBUILD_KEY, LogKeys
from engramlog_server.events.redis.scan import keys_like
from engramlog_server.events.redis.wire import Wire
from engramlog_server.events.text.unreadable import UNREADABLE
from engramlog_server.projections.fold.builds import BuildKeys, is_build, next_build
from engramlog_server.projections.fold.owner import PROJECTION_VERSION
from engramlog_server.projections.redis.retire import drop_build


class _Record(msgspec.Struct):
    """A rebuild as the store keeps it."""

    version: int
    partitions: list[int]
    done: list[int]


class RebuildRun:
    """One rebuild of several partitions."""

    def __init__(self, record: _Record) -> None:
        self._record = record
        self.done = sorted(record.done)
        """Partitions that were done before this process began."""
        self.rest = [number for number in record.partitions if number not in record.done]

    @classmethod
    def begin(cls, wire: Wire, partitions: Sequence[int], *, anew: bool) -> RebuildRun:
        """Go on with the run of these partitions that did not end, or begin one."""
        record = None if anew else _read(wire.call("HGET", REBUILD_KEY, "run"))
        if record is None or record.version != PROJECTION_VERSION or record.partitions != list(partitions):
            record = _Record(PROJECTION_VERSION, list(partitions), [])
        run = cls(record)
        run._write(wire)
        return run

    def finished(self, wire: Wire, partition: int) -> None:
        """A partition was switched."""
        self._record.done.append(partition)
        self._write(wire)

    def _write(self, wire: Wire) -> None:
        wire.call("HSET", REBUILD_KEY, "run", msgspec.json.encode(self._record))

    def end(self, wire: Wire) -> None:
        """All of it is done."""
        self.forget(wire)

    @staticmethod
    def forget(wire: Wire) -> None:
        """Nothing is gone on with."""
        wire.call("DEL", REBUILD_KEY)


def _read(raw: bytes | None) -> _Record | None:
    try:
        return None if raw is None else msgspec.json.decode(raw, type=_Record)
    except UNREADABLE:
        return None


class LeftBuild(NamedTuple):
    """A build beside the live one."""

    build: str
    seq: int
    running: bool
    """Whether a rebuild holds it now."""


def left_build(wire: Wire, tag: str, live: str, now_ms: int) -> LeftBuild | None:
    """What the next rebuild of a partition would go on with; None where there is nothing. One small read."""
    if not is_build(live):
        return None
    keys = BuildKeys(tag, next_build(live))
    epoch, seq, holder, ends = wire.call("HMGET", keys.checkpoint, "epoch", "seq", "holder", "until")
    if epoch is None:
        return None
    return LeftBuild(keys.build, int(seq or 0), holder is not None and int(ends or 0) > now_ms)


def tell_left_build(wire: Wire, keys: BuildKeys, partition: int, now_ms: int, alarms: Alarms) -> None:
    """Raise, or end, the alarm of a rebuild that was killed; `keys`: of the live build."""
    left = left_build(wire, keys.tag, keys.build, now_ms)
    if left is None or left.running:
        alarms.cleared("rebuild_left", f"partition {partition}")
    else:
        alarms.raised("rebuild_left", f"partition {partition}", f"build {left.build} was folded up to {left.seq}")


def drop_left_builds(wire: Wire, tag: str, now_ms: int) -> list[str]:
    """Drop every build that is neither live, nor on its way out, nor being made; gives their names."""
    answer = wire.call("HGETALL", LogKeys(tag).meta)
    meta = dict(zip(answer[::2], answer[1::2], strict=True))
    known = {meta.get(b"live", b"").decode(), *(name[4:].decode() for name in meta if name.startswith(b"old:"))}
    prefix, found = f"{{{tag}}}:", set[str]()
    for key, _ in keys_like(wire, f"{prefix}v*"):
        name = key.decode("utf-8", "replace").removeprefix(prefix).partition(":")[0]
        if is_build(name) and name not in known:
            found.add(name)
    dropped = []
    for build in sorted(found):
        keys = BuildKeys(tag, build)
        ends = wire.call("HGET", keys.checkpoint, "until")
        if ends is None or int(ends) <= now_ms:
            drop_build(wire, keys)
            dropped.append(build)
    return dropped
