"""One HTTP connection: uvicorn's, with an end to everything that a client could leave undone.

uvicorn waits for a first byte, for the rest of a head, and for a client that takes nothing, for ever.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, NoReturn, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.http.problem import plain_problem, problem_of
from api.http.server.connections import Connections
from events.errors import ServerBusy

AT_THE_FOLDER = "folder"
"""Stands in the place of an address of the network for who asks through a socket of the file system, with his user's number."""
REFUSED_SECONDS = 2.0
"""How long a refused connection may take to ask, so that it can be told."""


class TrackedConnection(H11Protocol):
    """A connection that is one of `connections` for as long as it is open."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._of = connections
        self._limits = connections.limits
        self.conn: _Connection = _Connection(connections.limits.pieces, connections.limits.head_bytes)
        self.timeout_keep_alive = connections.limits.resting_seconds
        self._until: asyncio.TimerHandle | None = None
        """The end of what is waited for: a head, or the rest of a refused body."""
        self._stuck: asyncio.TimerHandle | None = None
        self._refused = False
        self._lingers = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Stay, or be refused at the first request."""
        super().connection_made(transport)
        self.client = self.client or _at_the_folder(transport)
        self._refused = not self._of.admit(self)
        if self._refused and not self._of.may_be_told():
            self.transport.abort()
            return
        self._wait(REFUSED_SECONDS if self._refused else self._limits.header_seconds, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """No timer outlives it."""
        self._of.left(self, refused=self._refused)
        for timer in (self._until, self._stuck):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes of a request, whole or not."""
        if self._refused:
            self._tell_refused()
            return
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Rest, go on with the next request that has come, or read off what is left of a body that nobody wanted."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._close()
        elif self.conn.their_state is h11.SEND_BODY:
            self._lingers = True
            self._of.rests(self)
            self._wait(self._limits.linger_seconds, self._close)
        else:
            self._look()

    def _look(self) -> None:
        """See where the connection stands now, and what it is waited for."""
        if self.transport.is_closing():
            return
        if self._lingers and self.conn.their_state is h11.SEND_BODY:
            return
        if self._lingers:
            self._lingers = False
            self._wait(None)
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait(None)
            self._of.busy(self)
        elif self.timeout_keep_alive_task is not None:  # nothing of a further request has come
            self._wait(None)
            self._of.rests(self)
        elif self._until is None:
            self._wait(self._limits.header_seconds, self._give_up)

    def _wait(self, seconds: float | None, then: Callable[[], None] = lambda: None) -> None:
        if self._until is not None:
            self._until.cancel()
        self._until = None if seconds is None else self.loop.call_later(seconds, then)

    def _give_up(self) -> None:
        """A head that did not come in time: said where something came, closed without a word where nothing did."""
        if self.transport.is_closing():
            return
        if not self._refused and self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            detail = f"the head of the request was not whole within {self._limits.header_seconds:g} s"
            self._answer(HTTPStatus.REQUEST_TIMEOUT, detail)
        else:
            self._close()

    def _close(self) -> None:
        """Close once everything is sent, and in any case after a while: a client that takes nothing keeps nothing open."""
        self.transport.close()
        if self._stuck is None:
            self._stuck = self.loop.call_later(self._limits.write_seconds, self.transport.abort)

    def timeout_keep_alive_handler(self) -> None:
        """It rested long enough."""
        super().timeout_keep_alive_handler()
        self._close()

    def _tell_refused(self) -> None:
        told = problem_of(
            ServerBusy(
                f"{self._of.most:,} connections are open, and each has a request in hand; come again", retry_after=1
            )
        )
        head = "".join(f"{name.decode('latin-1')}: {value.decode('latin-1')}\r\n" for name, value in told.raw_headers)
        self.transport.write(
            f"HTTP/1.1 503 Service Unavailable\r\n{head}connection: close\r\n\r\n".encode("latin-1") + bytes(told.body)
        )
        self._close()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP, or more than is read: told as a problem, and closed."""
        self._of.malformed.one(self.loop.call_later)
        status, detail = self.conn.trouble or (HTTPStatus.BAD_REQUEST, msg)
        if self.cycle is not None and not self.cycle.response_complete:  # the application waits for the rest of a body
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self._close()
                return
        self._answer(status, detail)

    def _answer(self, status: HTTPStatus, detail: str) -> None:
        told = plain_problem(status, detail)
        headers = [*told.raw_headers, (b"connection", b"close")]
        head = h11.Response(status_code=status, headers=headers, reason=status.phrase.encode())
        for event in (head, h11.Data(data=bytes(told.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self._close()

    def pause_writing(self) -> None:
        """The client takes nothing more: not for ever."""
        super().pause_writing()
        if self._stuck is None:
            self._stuck = self.loop.call_later(self._limits.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It takes again."""
        super().resume_writing()
        if self._stuck is not None and not self.transport.is_closing():
            self._stuck.cancel()
            self._stuck = None

    def make_room(self) -> None:
        """Close for another's sake."""
        self._unset_keepalive_if_required()
        self._close()


def _at_the_folder(transport: asyncio.BaseTransport) -> tuple[str, int] | None:
    """Who asks through a unix socket, as the kernel tells; where it does not, the file lets in none but this user."""
    line: socket.socket | None = transport.get_extra_info("socket")
    if line is None or line.family is not socket.AF_UNIX:
        return None
    if not hasattr(socket, "SO_PEERCRED"):
        return AT_THE_FOLDER, os.geteuid()
    told = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return AT_THE_FOLDER, struct.unpack("3i", told)[1]


def protocol_of(connections: Connections) -> type[asyncio.Protocol]:
    """What uvicorn makes its connections by."""
    return cast("type[asyncio.Protocol]", partial(TrackedConnection, connections))


class _Connection(h11.Connection):
    """h11's state of one connection, which measures heads, counts the pieces of a body and remembers what was wrong."""

    def __init__(self, pieces: int, head_bytes: int) -> None:
        super().__init__(h11.SERVER, head_bytes)
        self._most_head = head_bytes
        self._most_pieces = pieces
        self._pieces = 0
        self.trouble: tuple[HTTPStatus, str] | None = None
        """Why it cannot go on, where that has a name of its own."""

    def next_event(self) -> Any:
        """The next event; a head too long, or of two lengths, and a body in too many pieces are as good as broken."""
        before = len(self._receive_buffer)
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                self._pieces = 0
                self._check_head(event, before - len(self._receive_buffer))
            elif isinstance(event, h11.EndOfMessage):
                self._check_length(before - len(self._receive_buffer))
            elif isinstance(event, h11.Data):
                self._pieces += 1
                self._check_pieces()
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
                self.trouble = (
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                    f"the request's line and headers are too long; allowed: {self._most_head:,} bytes together",
                )
            raise
        return event

    def _check_head(self, head: h11.Request, size: int) -> None:
        """h11 bounds what it waits for, and takes a longer head that came whole; of two lengths it takes one (RFC 9112, 6.3)."""
        self._check_length(size)
        names = {name for name, _ in head.headers}
        if b"transfer-encoding" not in names:
            return
        if b"content-length" in names:
            self._broken(
                "Content-Length, Transfer-Encoding: got both; allowed: one of them, or readers differ on where the request ends"
            )
        if head.http_version < b"1.1":
            self._broken("Transfer-Encoding: got one in HTTP/1.0, which has none; allowed: Content-Length, or HTTP/1.1")

    def _check_length(self, size: int) -> None:
        """Of a head, or of the lines after the last chunk."""
        if size > self._most_head:
            self._broken("", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def _check_pieces(self) -> None:
        if self._pieces > self._most_pieces:
            self._broken(f"body: more than {self._most_pieces:,} chunks")

    def _broken(self, detail: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> NoReturn:
        """Nothing of this connection is read any more."""
        self.trouble = (status, detail)
        self._process_error(h11.CLIENT)
        raise h11.RemoteProtocolError(detail, error_status_hint=status)
