"""TLS before HTTP: who shakes hands is a connection from the first moment on, with an end, and makes room as others do.

asyncio tells a protocol of a connection once the handshake is over, so that one that stalls would be counted nowhere.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Final

from api.http.server.connections import Connections

CLOSING_SECONDS: Final = 5.0
"""How long the other end may take to say that it closes, too."""
MOST_EARLY: Final = 1 << 20
"""Bytes that are kept of what comes right behind the handshake."""
Refused = Callable[[str], None]


class TcpDoor(asyncio.Protocol):
    """One connection that shakes hands, and becomes another protocol's then."""

    def __init__(
        self,
        connections: Connections,
        context: Callable[[], ssl.SSLContext],
        inside: Callable[[], asyncio.Protocol],
        refused: Refused,
    ) -> None:
        """`refused` is told `handshake` where nothing came of it."""
        self._of = connections
        self._context = context
        self._inside = inside
        self._refused = refused
        self._transport: asyncio.Transport | None = None
        self._shaking: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, where there is a place."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if not self._of.admit(self):
            transport.abort()  # before TLS nothing can be said
            return
        transport.pause_reading()
        self._shaking = asyncio.get_running_loop().create_task(self._shake(transport))

    def connection_lost(self, _exc: Exception | None) -> None:
        """It ended before it began."""
        self._of.left(self, refused=False)

    def make_room(self) -> None:
        """Close for another's sake."""
        if self._transport is not None:
            self._transport.abort()

    async def _shake(self, transport: asyncio.Transport) -> None:
        early = _Early()
        try:
            secured = await asyncio.get_running_loop().start_tls(
                transport,
                early,
                self._context(),
                server_side=True,
                ssl_handshake_timeout=self._of.limits.header_seconds,
                ssl_shutdown_timeout=CLOSING_SECONDS,
            )
        except OSError:  # no TLS, one too old, a certificate that is not believed, too late, gone
            self._refused("handshake")
            transport.abort()
            return
        finally:
            self._of.left(self, refused=False)
        if secured is None or early.over:
            transport.abort()
            return
        inside = self._inside()
        secured.set_protocol(inside)
        inside.connection_made(secured)
        if early.came and not secured.is_closing():
            inside.data_received(bytes(early.came))


class _Early(asyncio.Protocol):
    """Keeps what comes between the end of the handshake and the moment in which that is known."""

    def __init__(self) -> None:
        self.came = bytearray()
        self.over = False

    def data_received(self, data: bytes) -> None:
        """Some of it."""
        if len(self.came) + len(data) > MOST_EARLY:
            self.over = True
        else:
            self.came += data

    def connection_lost(self, _exc: Exception | None) -> None:
        """It was given up."""
        self.over = True
