"""The limits: Redis as fast as Python can drive it, with hiredis on a bare socket."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import hiredis

from engramlog_server.events.envelope import Prepared
from engramlog_server.events.partitions import LogKeys, partition_of

BATCH = 1_000
PAGE = 500


class RawConnection:
    """A unix socket, hiredis's packer and its parser, and nothing else."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(str(path))
        self._reader = hiredis.Reader()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def pipeline(self, commands: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Send commands in one write and take their answers."""
        packed = [hiredis.pack_command(command) for command in commands]
        self._socket.sendall(b"".join(packed))
        return [self._answer() for _ in packed]

    def _answer(self) -> Any:
        answer = self._reader.gets()
        while answer is False:
            self._reader.feed(self._socket.recv(1 << 16))
            answer = self._reader.gets()
        return answer


def xadd_raw(path: Path, events: Sequence[Prepared], tags: Sequence[str]) -> None:
    """The same entries as the log writes, in pipelines of 1,000 XADDs; checks and keeps nothing."""
    streams = [f"raw:{LogKeys(tag).stream}" for tag in tags]
    with RawConnection(path) as connection:
        for start in range(0, len(events), BATCH):
            connection.pipeline(
                (
                    "XADD",
                    streams[partition_of(event.owner, len(streams))],
                    "*",
                    "t",
                    event.kind,
                    "i",
                    event.raw_id,
                    "o",
                    event.owner,
                    "e",
                    event.body,
                )
                for event in events[start : start + BATCH]
            )


def xrange_raw(path: Path, tags: Sequence[str]) -> int:
    """Every entry of every partition's stream, in pages of 500; gives how many there were."""
    count = 0
    with RawConnection(path) as connection:
        for tag in tags:
            after = b"0-1"
            while True:
                (page,) = connection.pipeline([("XRANGE", LogKeys(tag).stream, b"(" + after, "+", "COUNT", str(PAGE))])
                count += len(page)
                if len(page) < PAGE:
                    break
                after = page[-1][0]
    return count
