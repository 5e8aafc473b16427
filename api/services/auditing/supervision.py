"""How the store's Redis keeps what it was told, and how its disk stands: what a scrape reads beside `status`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from engramlog_server.events.redis.release import release_of

if TYPE_CHECKING:
    from engramlog_server.events.redis.wire import Wire

OK = "ok"


class DiskRoom(NamedTuple):
    """The disk of a data folder, in bytes."""

    free: int
    total: int
    wanted: int
    """Free bytes with which the next rewrite of the append-only file has room."""
    reserve: int = 0
    """Free bytes under which no writes are taken."""


class AppendOnlyFile(NamedTuple):
    """The append-only file as Redis tells of it; of a Cluster those of all nodes together, where the worst counts."""

    enabled: bool
    bytes: int | None
    """None where it is off."""
    base_bytes: int | None
    """Bytes after the last rewrite."""
    write_ok: bool
    """Whether the last write and its fsync succeeded."""
    rewrite_ok: bool
    rewriting: bool
    rewrite_seconds: int | None
    """What the last rewrite took; None where there was none since Redis started."""
    delayed_fsyncs: int
    """Writes that waited for an fsync in the background since Redis started; with `appendfsync always` there are none."""


class Kept(NamedTuple):
    """What is read for one scrape."""

    server: str
    """Product and version, such as "Valkey 9.1.2"; of a Cluster whose nodes differ: each once."""
    aof: AppendOnlyFile
    disk: DiskRoom | None
    """None where the disk is not this machine's to look at, or could not be looked at."""
    trouble: str | None
    """Why the disk could not be looked at."""


class Supervision:
    """Asks Redis and the disk. Safe for threads: a connection of its own a call."""

    def __init__(self, wire: Callable[[], Wire], disk: Callable[[], DiskRoom] | None = None) -> None:
        self._wire = wire
        self._disk = disk

    def kept(self) -> Kept:
        """How it stands now. Raises StoreError where Redis does not answer."""
        wire = self._wire()
        try:
            told = [(info(one, "server"), read_aof(info(one, "persistence"))) for _, one in wire.servers()]
        finally:
            wire.close()
        disk, trouble = None, None
        try:
            disk = None if self._disk is None else self._disk()
        except OSError as error:
            trouble = str(error.strerror or error)
        servers = sorted({str(release_of(server)) for server, _ in told})
        return Kept(", ".join(servers), _together([aof for _, aof in told]), disk, trouble)


def info(wire: Wire, section: str) -> dict[str, str]:
    """A section of what one server tells of itself, by field. Raises StoreError."""
    answer: Any = wire.call("INFO", section)
    return dict(line.split(":", 1) for line in answer.decode("utf-8", "replace").splitlines() if ":" in line)


def replicas_online(replication: dict[str, str]) -> int:
    """How many replicas follow a server, by what it tells of replication."""
    return sum(1 for name, value in replication.items() if name.startswith("slave") and "state=online" in value)


def _together(files: Sequence[AppendOnlyFile]) -> AppendOnlyFile:
    """Those of a Cluster's nodes as one: sizes in sum, and what fails at one node fails."""
    if len(files) == 1:
        return files[0]
    took = [one.rewrite_seconds for one in files if one.rewrite_seconds is not None]
    return AppendOnlyFile(
        enabled=all(one.enabled for one in files),
        bytes=_sum(one.bytes for one in files),
        base_bytes=_sum(one.base_bytes for one in files),
        write_ok=all(one.write_ok for one in files),
        rewrite_ok=all(one.rewrite_ok for one in files),
        rewriting=any(one.rewriting for one in files),
        rewrite_seconds=max(took, default=None),
        delayed_fsyncs=sum(one.delayed_fsyncs for one in files),
    )


def _sum(sizes: Iterable[int | None]) -> int | None:
    """None where one is not known: a sum of fewer would look like less."""
    known = list(sizes)
    return None if None in known else sum(one for one in known if one is not None)


def read_aof(told: dict[str, str]) -> AppendOnlyFile:
    """The fields of all supported servers; one that is not told is None, or what harms nobody."""

    def number(name: str) -> int | None:
        return int(told[name]) if told.get(name, "").lstrip("-").isdecimal() else None

    took = number("aof_last_rewrite_time_sec")
    return AppendOnlyFile(
        enabled=told.get("aof_enabled") == "1",
        bytes=number("aof_current_size"),
        base_bytes=number("aof_base_size"),
        write_ok=told.get("aof_last_write_status", OK) == OK,
        rewrite_ok=told.get("aof_last_bgrewrite_status", OK) == OK,
        rewriting=told.get("aof_rewrite_in_progress") == "1",
        rewrite_seconds=None if took is None or took < 0 else took,
        delayed_fsyncs=number("aof_delayed_fsync") or 0,
    )
