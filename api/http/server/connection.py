"""One connection: uvicorn's, with a place among a bounded number, an end to a late head, and an end to an answer nobody takes.

uvicorn waits for all three without end, and its `limit_concurrency` refuses every caller while idle connections fill it.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.http.problem import problem_of
from api.http.server.listener import Listener
from events.errors import ServerBusy

AT_THE_FOLDER = "folder"
"""Replaces the network address of a caller at a unix socket; the user's number follows."""
HEAD_BYTES = 32 * 1024
"""Of a request's line and headers together."""
TOLD = 100
"""So many connections beyond the limit get a 503; more are cut."""


class ConnectionLimits(NamedTuple):
    """Times are seconds."""

    most: int = 1_000
    """Open connections of one listener; a quarter of the files that the process may open where that is less."""
    header_seconds: float = 10.0
    """From the first byte of a request, or from the start of the connection, to the end of the head."""
    resting_seconds: int = 15
    """Between an answer and the next request."""
    write_seconds: float = 60.0
    """How long a client may take nothing of an answer."""


@dataclass(slots=True)
class OpenConnections:
    """What the connections of one listening socket share."""

    listener: Listener
    limits: ConnectionLimits
    refused: Callable[[str], None]
    """Counts a refused connection."""
    open: dict[HttpConnection, None] = field(default_factory=dict)
    """Open connections; the one that has been idle longest comes first."""

    @property
    def most(self) -> int:
        """How many may be open."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return self.limits.most if files == resource.RLIM_INFINITY else max(min(self.limits.most, files // 4), 8)


class HttpConnection(H11Protocol):
    """A connection that came through a door."""

    def __init__(self, door: OpenConnections, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self._late: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None

    @property
    def idle(self) -> bool:
        """Whether no request is in hand."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, if need be that of the connection that has been idle longest."""
        super().connection_made(transport)
        self.client = self.client or _user_of(transport)
        self._await_head()
        door = self._door
        if len(door.open) >= door.most:
            idle = next((one for one in door.open if one.idle), None)
            if idle is not None:
                del door.open[idle]
                idle.transport.abort()
            else:
                door.refused("connections")
                self.app = _busy
                if len(door.open) >= door.most + TOLD:
                    transport.abort()
                    return
        door.open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._door.open.pop(self, None)
        for timer in filter(None, (self._late, self._stuck)):
            timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head that has begun must end in time, and so must the rest of a refused body."""
        super().data_received(data)
        if self.idle:
            self._await_head()
        elif self._late is not None:
            self._late.cancel()
            self._late = None

    def _await_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self._door.limits.header_seconds, self.transport.close)

    def on_response_complete(self) -> None:
        """Rest from now on."""
        if self in self._door.open:
            self._door.open[self] = self._door.open.pop(self)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Say what is read, and close."""
        if self.conn.our_state is h11.SEND_BODY:
            self.transport.close()
        else:
            super().send_400_response(
                f"{msg} Allowed: HTTP/1.1, with at most {HEAD_BYTES:,} bytes of line and headers."
            )

    def pause_writing(self) -> None:
        """The client takes nothing."""
        super().pause_writing()
        self._stuck = self.loop.call_later(self._door.limits.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client takes again."""
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()


async def _busy(scope: Any, receive: Any, send: Any) -> None:
    """Answer on a connection beyond the limit."""
    busy = ServerBusy("every connection has a request in hand; come again", retry_after=1)
    answer = problem_of(busy)
    answer.headers["connection"] = "close"
    await answer(scope, receive, send)


def _user_of(transport: asyncio.Transport) -> tuple[str, int] | None:
    """The caller at a unix socket, as the kernel tells; where it does not, the file lets in no other user."""
    line: socket.socket | None = transport.get_extra_info("socket")
    if line is None or line.family is not socket.AF_UNIX:
        return None
    if not hasattr(socket, "SO_PEERCRED"):
        return AT_THE_FOLDER, os.geteuid()
    return AT_THE_FOLDER, struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
