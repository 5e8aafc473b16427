"""Who sends a request: whoever shows the token of the folder, a session, a key, a token made of one, or one of the company's own
identity provider."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers

from engramlog_server.api.choices import CURL
from engramlog_server.api.http.problem import Problem, plain_problem
from engramlog_server.api.http.server.listener import CONSOLE_PAGE, OF_THIS_MACHINE, Listener
from engramlog_server.api.http.sessions import SESSION_PREFIX, Sessions
from engramlog_server.projections.access.caller import AT_THE_FOLDER, AccessBook, Caller
from engramlog_server.projections.access.keys import (
    SECOND,
    UNKNOWN,
    Recognised,
    TokenRefused,
    TokenSaid,
    is_of_a_key,
    read_token,
    recognised,
    still,
)

if TYPE_CHECKING:
    from engramlog_server.projections.access.provider import ProviderKey, ProviderRules, Signed


Admits = Callable[[str], bool]
"""Whether a token that was shown is the one of this service; compares in constant time. Where its token can become another one
it has `in_force`, too: what tells that in force from others, None where nobody is admitted."""
KNOWN = "engramlog.known"
"""Name in an ASGI scope: whether the request showed the token. Only open paths are ever reached without."""
CONSOLE_FILES = "/console/"
"""How the address of each of the console's files begins."""
OPEN_PATHS = frozenset(
    {
        *("/health", "/ready", "/docs", "/docs/page.css", "/docs/page.js", "/docs/request.js", "/v1/openapi.json"),
        CONSOLE_PAGE,
    }
)
"""What is answered without the token: that the process lives and is ready, what routes there are, and the console's page, which
holds nothing. Nothing of anybody."""
OPEN_POST, MOST_OPEN = "/v1/console/session", 10_240
"""The one thing that a stranger may send: a code that works once, or a key or token of this store; and of how many bytes its
body may be."""
UNATTENDED = "engramlog-unattended"
"""The header by which a page says that it asks by itself: nobody touched it for a minute."""
READS = frozenset({"GET", "HEAD"})


def is_open(method: str, path: str) -> bool:
    """Whether this is answered without the token."""
    if method in READS:
        return path in OPEN_PATHS or path.startswith(CONSOLE_FILES)
    return method == "POST" and path == OPEN_POST


def in_force_of(admits: Admits) -> Callable[[], bytes | None]:
    """What tells which token is in force."""
    told = getattr(admits, "in_force", None)
    return told if callable(told) else lambda: b""


def nobody(_shown: str) -> bool:
    """Admits nobody: what holds where nothing was said."""
    return False


def is_known(headers: Headers, admits: Admits) -> bool:
    """Whether these headers show the token, in one `Authorization` header and nowhere else."""
    shown = shown_in(headers)
    return shown is not None and admits(shown)


def shown_in(headers: Headers) -> str | None:
    """What is shown as a token; None where nothing is, or more than one thing."""
    told = headers.getlist("authorization")
    if len(told) != 1:
        return None
    scheme, _, shown = told[0].partition(" ")
    return shown.strip() if scheme.lower() == "bearer" and shown else None


def unauthorized(
    headers: Headers, got: str = "", more: str = "", *, why: str | None = None, keys_alone: bool = False
) -> Problem:
    """The refusal, which says where a token is had and never what was shown. `got`: what it was, where that is known; `more`: what
    the challenge says besides.

    `why`: of a session of a key, what became of the key. `keys_alone`: the store's own token opens nothing here, as from other
    machines.
    """
    shown = "authorization" in headers
    challenge = 'Bearer realm="engramlog"' + (', error="invalid_token"' if shown else "") + more
    got = (got or "another than this service's token") if shown else "none"
    if (shown_in(headers) or "").startswith(SESSION_PREFIX) and why is None:
        got = "a session that is over (`engramlog console` opens a new one)"
    if keys_alone:
        got = got.replace("another than this service's token, and no key of this store", "no key of this store")
        return plain_problem(
            HTTPStatus.UNAUTHORIZED,
            f"Authorization: got {got}; allowed: Bearer and a key of this store, or a token made of one",
            {"www-authenticate": challenge},
        )
    return plain_problem(
        HTTPStatus.UNAUTHORIZED,
        f"Authorization: got {got}; allowed: Bearer and a key of this store, or its token, which `engramlog token` prints:"
        f" {CURL} ...",
        {"www-authenticate": challenge},
        **({} if why is None else {"reason": why}),
    )


CALLER = "engramlog.caller"
"""Name in an ASGI scope: who sends the request; None where nobody is known, on open paths alone."""
GONE = "a key that is over"
"""As what it is recorded that somebody shows one."""
MOST_READ = 1_000
"""Tokens of which it is remembered what they say."""
LOOKING = 4
"""Threads that look who may do what."""
WAITING = 4
"""Threads that wait for the identity provider's keys: nobody whose key is known waits behind them."""
Book = Callable[[], AccessBook]
Audiences = Callable[[str, "ProviderRules"], Collection[str]]
"""Whom a token may be for that is shown at a path."""


class Provider(Protocol):
    """The company's own identity provider."""

    rules: ProviderRules

    def known(self, key_id: str) -> ProviderKey | None:
        """A key that is known, at once."""

    def found(self, key_id: str) -> ProviderKey | None:
        """A key, asked for where it is time to; None where there is none. May wait; raises IdentityUnavailable."""


def of_the_service(_path: str, rules: ProviderRules) -> Collection[str]:
    """The service itself, at whatever path."""
    from engramlog_server.projections.access.provider import canonical

    return (canonical(rules.audience),)


class Callers:
    """Recognises callers. For one event loop."""

    def __init__(
        self,
        admits: Admits,
        sessions: Sessions | None = None,
        book: Book | None = None,
        clock: Callable[[], int] = lambda: 0,
        on_gone: Callable[[Caller], None] = lambda _caller: None,
        *,
        provider: Provider | None = None,
        audiences: Audiences = of_the_service,
    ) -> None:
        """`book` gives what was said of keys until it is asked; without it there are none. `clock`: microseconds since 1970.

        `on_gone` is told, in a thread, of a key that is shown and opens nothing any more.
        """
        self._admits = admits
        self._sessions = sessions
        self._book = book
        self._clock = clock
        self._on_gone = on_gone
        self._read = TokensRead()
        self._provider = provider
        self._audiences = audiences
        self._threads: CapacityLimiter | None = None
        self._patient: CapacityLimiter | None = None

    async def of(
        self, headers: Headers, listener: Listener = OF_THIS_MACHINE, path: str = "", *, attended: bool = True
    ) -> Recognised:
        """Who sends a request with these headers by a listener to a path. Raises StoreUnavailable and IdentityUnavailable where
        that cannot be known.

        The folder's token, and sessions that it vouched for, open listeners of this machine alone. `attended`: whether somebody
        asks, and not the service itself, of a request that waits.
        """
        shown, attended = shown_in(headers), attended and UNATTENDED not in headers
        if shown is None:
            return UNKNOWN
        held = None
        if self._sessions is not None and shown.startswith(SESSION_PREFIX):
            held = self._sessions.whose(shown, attended=attended)
        if not listener.public and (held is AT_THE_FOLDER or self._admits(shown)):
            return Recognised(AT_THE_FOLDER)
        if held is not None and held is not AT_THE_FOLDER:
            found = await self._looked(lambda book, now: still(book, held, now))
            return found if found.caller else found._replace(got=f"a session of {found.got}")
        if is_of_a_key(shown):
            return await self.of_a_key(shown)
        return UNKNOWN if self._book is None else await self._of_provider(self._book, shown, path)

    async def of_a_key(self, shown: str) -> Recognised:
        """Who shows this key, or token made of one. Raises StoreUnavailable where that cannot be known."""
        if not is_of_a_key(shown):
            return UNKNOWN
        return await self._looked(lambda book, now: recognised(book, shown, now, self._read.read))

    async def _looked(self, look: Callable[[AccessBook, int], Recognised]) -> Recognised:
        if self._book is None:
            return UNKNOWN
        return await run_sync(self._look, self._book, look, limiter=self._looking())

    def _look(self, book: Book, look: Callable[[AccessBook, int], Recognised]) -> Recognised:
        found = look(book(), self._clock())
        if found.once is not None:
            self._on_gone(found.once)
        return found

    async def _of_provider(self, book: Book, shown: str, path: str) -> Recognised:
        if self._provider is None:
            return UNKNOWN
        from engramlog_server.projections.access.provider import signed_by

        signed = signed_by(shown)
        if signed is None:
            return UNKNOWN
        key = await self._key(self._provider, signed)
        if key is None or signed.algorithm not in key.algorithms:
            return Recognised(None, "a token that no key of the identity provider signed")
        rules = self._provider.rules
        asked = (book, shown, key, rules, self._audiences(path, rules))
        return await run_sync(self._vouched_for, *asked, limiter=self._looking())

    def _looking(self) -> CapacityLimiter:
        if self._threads is None:
            self._threads = CapacityLimiter(LOOKING)
        return self._threads

    async def _key(self, provider: Provider, signed: Signed) -> ProviderKey | None:
        key = provider.known(signed.key_id)
        if key is not None:
            return key
        if self._patient is None:
            self._patient = CapacityLimiter(WAITING)
        return await run_sync(provider.found, signed.key_id, limiter=self._patient)

    def _vouched_for(
        self, book: Book, shown: str, key: ProviderKey, rules: ProviderRules, audiences: Collection[str]
    ) -> Recognised:
        from engramlog_server.projections.access.provider import caller_of_claims, read_claims

        try:
            claims = read_claims(shown, key, rules, audiences, self._clock() // SECOND)
        except TokenRefused as error:
            return Recognised(None, str(error))
        return Recognised(caller_of_claims(book(), claims))


class TokensRead:
    """What tokens say whose signatures were checked, under their hashes. Safe for threads."""

    def __init__(self, most: int = MOST_READ) -> None:
        self._most = most
        self._lock = Lock()
        self._read: OrderedDict[bytes, TokenSaid] = OrderedDict()

    def read(self, shown: str, public: bytes) -> TokenSaid:
        """See `read_token`."""
        name = sha256(public + shown.encode()).digest()
        with self._lock:
            found = self._read.get(name)
            if found is not None:
                self._read.move_to_end(name)
                return found
        found = read_token(shown, public)
        with self._lock:
            self._read[name] = found
            while len(self._read) > self._most:
                self._read.popitem(last=False)
        return found


def caller_in(scope: Mapping[str, object]) -> Caller | None:
    """Who sent a request that the guard handed on."""
    found = scope.get(CALLER)
    return found if isinstance(found, Caller) else None
