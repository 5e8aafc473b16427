"""`Memory` and `AsyncMemory`: the same verbs, carried out over HTTP with and without waiting for each other."""

from __future__ import annotations

import asyncio
import copy
import os
import ssl
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar
from urllib.parse import urlsplit

import httpx2

from engramlog import questions, reading, writing
from engramlog.errors import InputError, Unreachable, refused
from engramlog.home import URL as HOME
from engramlog.home import AsyncHomeTransport, HomeTransport, Told, home_of, token_for
from engramlog.questions import Questions
from engramlog.reading import SILENCE, Changed, Messages, changes_in
from engramlog.wire import (
    Answer,
    Lost,
    Outcome,
    Pause,
    Plan,
    Request,
    Retry,
    Scope,
    Verb,
    as_called,
    got,
    path_of,
    refusal_of,
)

URL = "http://127.0.0.1:8733"
"""Where `engramlog up` listens, beside the socket in its data folder."""
P = ParamSpec("P")
R = TypeVar("R")


class Verbs(Questions):
    """Everything that can be asked and told of an owner's memories."""

    add = Verb(writing.add)
    add_many = Verb(writing.add_many)
    append = Verb(writing.append)
    context = Verb(reading.context)
    get = Verb(reading.get)
    get_all = Verb(reading.get_all)
    update = Verb(questions.edit, "update")
    import_chats = Verb(writing.import_chats)
    extract = Verb(writing.extract)
    delete = Verb(writing.delete)
    delete_all = Verb(writing.delete_all)
    history = Verb(reading.history)
    confirm = Verb(writing.confirm)
    report_ground = Verb(writing.report_ground)
    merge = Verb(writing.merge)
    unmerge = Verb(writing.unmerge)
    restore = Verb(writing.restore)
    why = Verb(reading.why)
    export = Verb(reading.export)
    curves_picture = Verb(reading.curves_picture)
    map_picture = Verb(reading.map_picture)

    scope: Scope
    _token: Told

    def _prepared(
        self,
        scope: Scope,
        folder: Path | None,
        url: str | None,
        token: str | None,
        timeout: float,
        authority: str | os.PathLike[str] | None,
    ) -> dict[str, Any]:
        """What a client of either kind is made with; it takes over the scope and the token."""
        address, self._token = _addressed(url, token, folder)
        self.scope = scope
        verify = trusting(authority) if address.startswith("https:") else True
        return {
            "base_url": address,
            "timeout": timeout,
            "verify": verify,
            "trust_env": False,
            "follow_redirects": False,
        }

    def of(self, owner: str) -> Self:
        """The same client, of one owner: no verb has to name the owner, and none can reach another. Shares connections."""
        scoped = copy.copy(self)
        scoped.scope = self.scope.of(owner)
        return scoped


class Memory(Verbs):
    """The memories that an Engramlog service keeps.

    Without more it is the service of this user's data folder, through the socket in it, started where it does not run and the
    application is installed, unless `start=False`: see `engramlog.home`. `url` names another (else `ENGRAMLOG_URL`; `URL`
    where only a token is given), `token` is what that asks for (else `ENGRAMLOG_TOKEN`, else, of a service of this machine, what
    lies in the data folder: see `engramlog.home`). `owner` says whose memories are meant (else each verb names one), `timeout`
    is in seconds for each part of a request, `retry` how often what may be sent again is. `authority` is a file of PEM with the
    certificates that a service elsewhere is believed by (else `SSL_CERT_FILE`, else the usual ones). Proxies of the environment are
    not used. Safe for threads. Close it, or use it in a `with`.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        owner: str | None = None,
        timeout: float = 30.0,
        retry: Retry = Retry(),  # noqa: B008 - immutable
        scope: Scope | None = None,
        transport: httpx2.BaseTransport | None = None,
        start: bool = True,
        authority: str | os.PathLike[str] | None = None,
    ) -> None:
        folder = home_of(url, token) if transport is None else None
        options = self._prepared(_scope(scope, owner, retry), folder, url, token, timeout, authority)
        home = None if folder is None else HomeTransport(folder, start=start)
        self._http = httpx2.Client(transport=home or transport, **options)

    def carry_out(self, plan: Plan[R]) -> R:
        """Do what a plan says, and return its result."""
        outcome: Outcome = None
        while True:
            try:
                step = plan.send(outcome)
            except StopIteration as done:
                result: R = done.value
                return result
            outcome = self._pause(step) if isinstance(step, Pause) else self._send(step)

    def _pause(self, step: Pause) -> Outcome:
        time.sleep(step.seconds)
        return None

    def _send(self, request: Request) -> Outcome:
        try:
            answer = self._http.request(
                request.method, request.path, content=request.body, headers=_headers(request, self._token)
            )
        except httpx2.TransportError as error:
            return _lost(error)
        return _answer(answer)

    def feed(self, *, owner: str | None = None, since: str | None = None) -> Iterator[Changed]:
        """What changes of an owner as it changes, from now on or after the position `since`, until the service ends it.

        `since="3:0"` begins at the beginning of partition 3. Raises what any verb raises, and Unreachable where the stream breaks:
        go on with the position of the last change.
        """
        request, patience = _followed(self.scope, owner, since), _patience(self._http.timeout)
        headers, messages = _headers(request, self._token), Messages()
        try:
            with self._http.stream(request.method, request.path, headers=headers, timeout=patience) as answer:
                if answer.status_code != httpx2.codes.OK:
                    answer.read()
                    raise as_called({"since"}, refusal_of(request, _answer(answer)))
                for piece in answer.iter_bytes():
                    for message in messages.take(piece):
                        if message.event == "end":
                            return
                        yield from changes_in(message)
        except httpx2.TransportError as error:
            raise Unreachable(f"{request.path}: {_lost(error).reason}") from None

    def close(self) -> None:
        """Close the connections, of scoped clients too."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class AsyncMemory(Verbs):
    """The same for asyncio: every verb is awaited. See `Memory`."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        owner: str | None = None,
        timeout: float = 30.0,
        retry: Retry = Retry(),  # noqa: B008 - immutable
        scope: Scope | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        start: bool = True,
        authority: str | os.PathLike[str] | None = None,
    ) -> None:
        folder = home_of(url, token) if transport is None else None
        options = self._prepared(_scope(scope, owner, retry), folder, url, token, timeout, authority)
        home = None if folder is None else AsyncHomeTransport(folder, start=start)
        self._http = httpx2.AsyncClient(transport=home or transport, **options)

    async def carry_out(self, plan: Plan[R]) -> R:
        """Do what a plan says, and return its result."""
        outcome: Outcome = None
        while True:
            try:
                step = plan.send(outcome)
            except StopIteration as done:
                result: R = done.value
                return result
            outcome = await (self._pause(step) if isinstance(step, Pause) else self._send(step))

    async def _pause(self, step: Pause) -> Outcome:
        await asyncio.sleep(step.seconds)
        return None

    async def _send(self, request: Request) -> Outcome:
        try:
            answer = await self._http.request(
                request.method, request.path, content=request.body, headers=_headers(request, self._token)
            )
        except httpx2.TransportError as error:
            return _lost(error)
        return _answer(answer)

    async def feed(self, *, owner: str | None = None, since: str | None = None) -> AsyncIterator[Changed]:
        """The same as `Memory.feed`, with `async for`."""
        request, patience = _followed(self.scope, owner, since), _patience(self._http.timeout)
        headers, messages = _headers(request, self._token), Messages()
        try:
            async with self._http.stream(request.method, request.path, headers=headers, timeout=patience) as answer:
                if answer.status_code != httpx2.codes.OK:
                    await answer.aread()
                    raise as_called({"since"}, refusal_of(request, _answer(answer)))
                async for piece in answer.aiter_bytes():
                    for message in messages.take(piece):
                        if message.event == "end":
                            return
                        for change in changes_in(message):
                            yield change
        except httpx2.TransportError as error:
            raise Unreachable(f"{request.path}: {_lost(error).reason}") from None

    async def aclose(self) -> None:
        """Close the connections, of scoped clients too."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


def _patience(timeout: httpx2.Timeout) -> httpx2.Timeout:
    return httpx2.Timeout(connect=timeout.connect, read=SILENCE, write=timeout.write, pool=timeout.pool)


def _followed(scope: Scope, owner: str | None, since: str | None) -> Request:
    return got(path_of(scope.whose(owner), "feed"), since=since)


def _scope(scope: Scope | None, owner: str | None, retry: Retry) -> Scope:
    made = scope or Scope(retry=retry)
    return made if owner is None else made.of(owner)


def _addressed(url: str | None, token: str | None, folder: Path | None) -> tuple[str, Told]:
    """Where requests go, and the token that is shown there; in the data folder the transport shows it."""
    if folder is not None:
        return HOME, lambda: None
    address = _address(url or os.environ.get("ENGRAMLOG_URL") or URL)
    return address, token_for(address, token)


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise refused("url", url, f"the service's address, such as {URL}")
    if "@" in urlsplit(url).netloc:
        raise refused("url", "one with a user in it", f"the service's address alone, such as {URL}; token=... is apart")
    return url.rstrip("/")


def _headers(request: Request, told: Told) -> dict[str, str]:
    token = told()
    shown = {} if token is None else {"authorization": f"Bearer {token}"}
    return shown | ({} if request.body is None else {"content-type": request.media_type})


def _lost(error: httpx2.TransportError) -> Lost:
    return Lost(f"{type(error).__name__}: {error}".rstrip(": "))


def _answer(answer: httpx2.Response) -> Answer:
    return Answer(answer.status_code, answer.content, {name.lower(): value for name, value in answer.headers.items()})


AUTHORITY = (
    "the path of a file of PEM with the certificate of an authority, or the service's own where it signed itself"
)


def trusting(authority: str | os.PathLike[str] | None) -> ssl.SSLContext | bool:
    """What checks the service's certificate: the authority in this file, else in that of `SSL_CERT_FILE`, else the usual ones.

    There is no way to believe any: who reads along would read the key. Raises InputError for a file that holds none.
    """
    named = authority if authority is not None else os.environ.get("SSL_CERT_FILE") or None
    if named is None:
        return True
    try:
        context = ssl.create_default_context(cafile=Path(named).expanduser())
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        got = getattr(error, "strerror", None) or str(error)
        name = "authority" if authority is not None else "SSL_CERT_FILE"
        raise InputError(
            f"{name}: got {named} ({got}); allowed: {AUTHORITY}", field="authority", allowed=AUTHORITY
        ) from None
    return context
