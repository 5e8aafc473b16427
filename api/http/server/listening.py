"""uvicorn on several sockets, each with what holds for those who come by it: TLS, names, and places of their own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import uvicorn

from api.http.server.connection import TrackedConnection
from api.http.server.connections import Connections
from api.http.server.door import TcpDoor
from api.http.server.listener import LISTENER, OF_THIS_MACHINE, Listener

Refused = Callable[[str], None]


class Listening(NamedTuple):
    """A socket that listens, and what holds for whoever comes by it."""

    socket: socket.socket
    listener: Listener = OF_THIS_MACHINE
    connections: Connections | None = None
    """Those that it is one of, where not of the server's: others cannot take its places."""


class ListeningServer(uvicorn.Server):
    """uvicorn with a listener to each socket: it knows one TLS for all of them, and tells no request by which it came."""

    def __init__(
        self,
        config: uvicorn.Config,
        listening: Sequence[Listening],
        connections: Connections,
        refused: Refused = lambda _reason: None,
    ) -> None:
        super().__init__(config)
        self._listening = listening
        self._connections = connections
        self._refused = refused

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 - as uvicorn calls it
        """Start the application, then let callers in."""
        await super().startup([])
        for one in self._listening:
            self.servers.append(await self._listen(one))

    async def _listen(self, one: Listening) -> asyncio.Server:
        connections = one.connections or self._connections
        inside: Callable[[], asyncio.Protocol] = partial(
            TrackedConnection,
            connections,
            config=self.config,
            server_state=self.server_state,
            app_state={**self.lifespan.state, LISTENER: one.listener},
        )
        certificate = one.listener.certificate
        made = (
            inside
            if certificate is None
            else partial(TcpDoor, connections, lambda: certificate.context, inside, self._refused)
        )
        return await asyncio.get_running_loop().create_server(made, sock=one.socket, backlog=self.config.backlog)
