"""Transports to the service of this user's data folder, through the socket in it; it is started where nothing listens."""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack
from pathlib import Path
from threading import Lock

import httpx2

from engramlog.folder import data_folder, is_private
from engramlog.starting import ensure, listens, reachable
from engramlog.token import lying_in

URL = "http://localhost"
"""What requests through the socket are addressed to: it has no port."""


class _Home:
    """A data folder, and whether its service may be started. Safe for threads."""

    def __init__(self, folder: Path, start: bool) -> None:
        self.folder = folder
        self._start = start
        self._token = lying_in(folder)
        self._path: str | None = None
        self._open = ExitStack()
        self._lock = Lock()

    def path(self) -> str:
        """The socket's path, as short as the kernel wants it."""
        with self._lock:
            if self._path is None:
                self._path = self._open.enter_context(reachable(self.folder))
            return self._path

    def is_there(self) -> bool:
        """Whether somebody listens in the folder, who can only be this user."""
        return is_private(self.folder) and listens(self.folder)

    def ensure(self) -> None:
        """Return once the service listens. Raises Unreachable where it does not, and cannot be started."""
        ensure(self.folder, start=self._start)

    def shown(self, request: httpx2.Request) -> httpx2.Request:
        """The request with the folder's token, which the service makes where it is new."""
        token = self._token()
        if token is not None:
            request.headers["authorization"] = f"Bearer {token}"
        return request

    def close(self) -> None:
        """Give the folder back."""
        self._open.close()


class HomeTransport(httpx2.BaseTransport):
    """For `Memory`."""

    def __init__(self, folder: Path, *, start: bool) -> None:
        self._home = _Home(folder, start)
        self._inner: httpx2.HTTPTransport | None = None
        self._lock = Lock()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask the service; where nobody listens, nothing was sent, and it is started."""
        if self._home.is_there():
            try:
                return self._ask(request)
            except httpx2.ConnectError:
                """It left just now."""
        self._home.ensure()
        return self._ask(request)

    def _ask(self, request: httpx2.Request) -> httpx2.Response:
        with self._lock:
            if self._inner is None:
                self._inner = httpx2.HTTPTransport(uds=self._home.path(), verify=False, trust_env=False)
        return self._inner.handle_request(self._home.shown(request))

    def close(self) -> None:
        """Close its connections. What was started stays for others, and ends by itself."""
        if self._inner is not None:
            self._inner.close()
        self._home.close()


class AsyncHomeTransport(httpx2.AsyncBaseTransport):
    """For `AsyncMemory`; a start is waited for in a thread."""

    def __init__(self, folder: Path, *, start: bool) -> None:
        self._home = _Home(folder, start)
        self._inner: httpx2.AsyncHTTPTransport | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """As `HomeTransport.handle_request`."""
        if self._home.is_there():
            try:
                return await self._ask(request)
            except httpx2.ConnectError:
                """It left just now."""
        await asyncio.to_thread(self._home.ensure)
        return await self._ask(request)

    async def _ask(self, request: httpx2.Request) -> httpx2.Response:
        if self._inner is None:
            self._inner = httpx2.AsyncHTTPTransport(uds=self._home.path(), verify=False, trust_env=False)
        return await self._inner.handle_async_request(self._home.shown(request))

    async def aclose(self) -> None:
        """As `HomeTransport.close`."""
        if self._inner is not None:
            await self._inner.aclose()
        self._home.close()


def home_of(url: str | None, token: str | None) -> Path | None:
    """The data folder whose service is meant: where nothing names another, neither an address nor a token of one.

    None too where there are no unix sockets: the application does not run there.
    """
    if (
        os.name != "posix"
        or url is not None
        or token is not None
        or os.environ.get("ENGRAMLOG_URL")
        or os.environ.get("ENGRAMLOG_TOKEN")
    ):
        return None
    return data_folder().absolute()
