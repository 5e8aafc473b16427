"""Who sends a request: the token of the folder, a session, a key, a token made of one, or the company's own identity provider.

A page of the console never has the token. One-time codes give it a session, which ends with this process: whoever takes the port
later gets nothing from it. Only hashes are kept, in memory. A session is admitted only while the token that vouched for it is the
one in force.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from secrets import token_bytes
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers

from engramlog_server.api.choices import CURL
from engramlog_server.api.http.problem import Problem, plain_problem
from engramlog_server.api.http.serve import CONSOLE_PAGE, OF_THIS_MACHINE, Listener
from engramlog_server.events.errors import EngramlogError
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


CODE_PREFIX: Final = "egc1_"
SESSION_PREFIX: Final = "egs1_"
"""Like the token's, they tell people and scanners what this is; our own rules for secrets know them."""
CODE_SECONDS: Final = 600
MOST_CODES: Final = 20
"""So many wait at most; one more voids the oldest."""
PAST_CODES: Final = 100
"""Of so many it is known what became of them."""
IDLE_SECONDS: Final = 12 * 3600
LONGEST_SECONDS: Final = 7 * 86_400
MOST_SESSIONS: Final = 100
"""So many of the folder's token are open at most; one more ends the one that rested longest."""
MOST_OF_A_KEY: Final = 20
"""So many of one key are open at most; one more ends the one that rested longest."""
MOST: Final = 1_000
"""So many of all keys together; one more ends the one that rested longest."""
MOST_REFUSED: Final = 20
"""So many codes are refused one by one at once, and one more every `REFUSED_SECONDS`; the others are 429. A right one never is."""
REFUSED_SECONDS: Final = 3.0
_SELECTOR: Final = 8

State = Literal["waits", "used", "over", "unknown"]
"""What became of a code."""
Reason = Literal["used", "over", "unknown", "revoked", "limited"]
"""Why a code or a key was refused; limited: many were."""


class CodeRefused(EngramlogError):
    """A code or a key opens nothing (HTTP 403), or one of many that open nothing (HTTP 429)."""

    status = 403

    def __init__(self, message: str, reason: Reason, **context: object) -> None:
        super().__init__(message, reason=reason, **context)
        self.reason = reason
        if reason == "limited":
            self.status = 429


class CodeMade(NamedTuple):
    """A code, told once."""

    code: str
    ends_in: int
    """Seconds."""


class SessionMade(NamedTuple):
    """A session's token, told once."""

    token: str
    ends_in: int
    """Seconds, however much it is used."""
    idle_seconds: int
    """It ends earlier where nobody asks with it for so long: what a page asks by itself does not count."""


@dataclass(slots=True)
class _Kept:
    """A code that waits, or a session."""

    digest: bytes
    vouched: bytes | None
    """The token that vouched for it; None of a session that a key opened."""
    until: float
    seen: float
    caller: Caller = AT_THE_FOLDER

    def is_open(self, vouching: bytes | None, now: float) -> bool:
        """Whether its time lasts and, where a token vouched for it, that is the one in force."""
        lasts = now < self.until and now - self.seen < IDLE_SECONDS
        vouched = self.vouched is None or (vouching is not None and compare_digest(self.vouched, vouching))
        return lasts and vouched


class Sessions:
    """The codes and sessions of one process, of the folder's token and of keys. Safe for threads; nothing it does waits."""

    def __init__(
        self,
        in_force: Callable[[], bytes | None],
        *,
        page: str | None = None,
        clock: Callable[[], float] = monotonic,
        chance: Callable[[int], bytes] = token_bytes,
    ) -> None:
        """`in_force` tells which token is in force, None where nobody is admitted. `clock`: seconds, never backwards.

        `page`: where a browser finds the console, `http://host:port`; None where it is on no port.
        """
        self.page = page
        self.refused: dict[Reason, int] = {"used": 0, "over": 0, "unknown": 0, "revoked": 0, "limited": 0}
        """How many codes and keys were refused, and why."""
        self._in_force = in_force
        self._clock = clock
        self._chance = chance
        self._lock = Lock()
        self._codes: dict[bytes, _Kept] = {}
        self._past: dict[bytes, tuple[bytes, State]] = {}
        self._open: dict[bytes, _Kept] = {}
        self._allowance, self._allowed_at = float(MOST_REFUSED), clock()

    def in_force(self) -> bytes | None:
        """Which token is in force. Whoever vouches asks this before the token is compared: a rotation in between voids the code."""
        return self._in_force()

    def code(self, vouched: bytes) -> CodeMade:
        """A new code, for whoever showed the token that this tells."""
        vouching, made = self._in_force(), self._made(CODE_PREFIX)
        with self._lock:
            now = self._clock()
            self._tidy(now, vouching)
            while len(self._codes) >= MOST_CODES:
                self._pass(next(iter(self._codes)), "over")
            digest = hashed(made)
            self._codes[digest[:_SELECTOR]] = _Kept(digest, vouched, now + CODE_SECONDS, now)
        return CodeMade(made, CODE_SECONDS)

    def link(self, code: str) -> str | None:
        """The address that opens the console with a code; None on no port."""
        return None if self.page is None else f"{self.page}/#code={code}"

    def state(self, code: str) -> State:
        """What became of a code."""
        vouching = self._in_force()
        with self._lock:
            self._tidy(self._clock(), vouching)
            return self._state(hashed(code))

    def redeem(self, code: str) -> SessionMade:
        """A session for a code, which is used by that. Raises CodeRefused."""
        vouching, digest = self._in_force(), hashed(code)
        made = self._made(SESSION_PREFIX)
        with self._lock:
            now = self._clock()
            self._tidy(now, vouching)
            if vouching is None or self._found(self._codes, digest) is None:
                state = self._state(digest)
                reason: Reason = "unknown" if state == "waits" else state
                raise self._refusal(reason, now, "code", f"code: got {_TOLD[reason]}; allowed: {_CODES}")
            self._pass(digest[:_SELECTOR], "used")
            self._open_session(_Kept(hashed(made), vouching, now + LONGEST_SECONDS, now), vouching)
        return SessionMade(made, LONGEST_SECONDS, IDLE_SECONDS)

    def begin(self, caller: Caller, lasts: float | None = None) -> SessionMade:
        """A session of a key. `lasts`: seconds until what the caller showed ends; None: it does not by itself."""
        made = self._made(SESSION_PREFIX)
        longest = LONGEST_SECONDS if lasts is None else min(LONGEST_SECONDS, max(0, int(lasts)))
        vouching = self._in_force()
        with self._lock:
            now = self._clock()
            self._open_session(_Kept(hashed(made), None, now + longest, now, caller), vouching)
        return SessionMade(made, longest, IDLE_SECONDS)

    def whose(self, shown: str, *, attended: bool = True) -> Caller | None:
        """Who opened this session, as it was then, if it is open: a caller with a key, or `AT_THE_FOLDER`.

        It has been used then, unless its page asked by itself.
        """
        if not shown.startswith(SESSION_PREFIX):
            return None
        vouching, digest = self._in_force(), hashed(shown)
        with self._lock:
            found, now = self._found(self._open, digest), self._clock()
            if found is None:
                return None
            if not found.is_open(vouching, now):
                del self._open[digest[:_SELECTOR]]
                return None
            if attended:
                found.seen = now
            return found.caller

    def end(self, shown: str) -> bool:
        """End a session; whether there was one."""
        digest = hashed(shown)
        with self._lock:
            found = self._found(self._open, digest)
            if found is not None:
                del self._open[digest[:_SELECTOR]]
            return found is not None

    @property
    def open(self) -> int:
        """How many sessions are open."""
        vouching = self._in_force()
        with self._lock:
            self._close(vouching)
            return len(self._open)

    def refusal_of_key(self, reason: Reason, got: str) -> CodeRefused:
        """Why a key opens no session, where not many were refused; `got`: what it was, for whoever holds it."""
        with self._lock:
            return self._refusal(reason, self._clock(), "key", f"key: got {got}; allowed: {_KEYS}")

    def _made(self, prefix: str) -> str:
        """A new secret of 256 random bits."""
        return prefix + urlsafe_b64encode(self._chance(32)).rstrip(b"=").decode()

    def _open_session(self, one: _Kept, vouching: bytes | None) -> None:
        """Open it, after those for which there is no room are ended."""
        self._close(vouching)
        of_folder = one.caller is AT_THE_FOLDER
        same = [key for key, other in self._open.items() if other.caller.key_id == one.caller.key_id]
        self._make_room(same, MOST_SESSIONS if of_folder else MOST_OF_A_KEY)
        if not of_folder:
            self._make_room([key for key, other in self._open.items() if other.caller is not AT_THE_FOLDER], MOST)
        self._open[one.digest[:_SELECTOR]] = one

    def _make_room(self, among: list[bytes], most: int) -> None:
        for key in sorted(among, key=lambda key: self._open[key].seen)[: max(0, len(among) - most + 1)]:
            del self._open[key]

    def _close(self, vouching: bytes | None) -> None:
        now = self._clock()
        for key in [key for key, one in self._open.items() if not one.is_open(vouching, now)]:
            del self._open[key]

    def _found(self, kept: dict[bytes, _Kept], digest: bytes) -> _Kept | None:
        """Found by a part of its hash, which tells nobody anything; the whole is compared in constant time."""
        one = kept.get(digest[:_SELECTOR])
        return one if one is not None and compare_digest(one.digest, digest) else None

    def _state(self, digest: bytes) -> State:
        if self._found(self._codes, digest) is not None:
            return "waits"
        past = self._past.get(digest[:_SELECTOR])
        return past[1] if past is not None and compare_digest(past[0], digest) else "unknown"

    def _tidy(self, now: float, vouching: bytes | None) -> None:
        for key in [key for key, one in self._codes.items() if not one.is_open(vouching, now)]:
            self._pass(key, "over")

    def _pass(self, key: bytes, state: State) -> None:
        """A code waits no more."""
        self._past[key] = (self._codes.pop(key).digest, state)
        while len(self._past) > PAST_CODES:
            del self._past[next(iter(self._past))]

    def _refusal(self, reason: Reason, now: float, field: str, told: str) -> CodeRefused:
        self._allowance = min(self._allowance + (now - self._allowed_at) / REFUSED_SECONDS, MOST_REFUSED)
        self._allowed_at = now
        if self._allowance < 1:
            reason = "limited"
        else:
            self._allowance -= 1
        self.refused[reason] += 1
        if reason == "limited":
            return CodeRefused(
                f"{field}: too many were refused; allowed: one more in a few seconds",
                reason,
                retry_after=int(REFUSED_SECONDS),
            )
        return CodeRefused(told, reason, field=field)


_TOLD: Final[dict[Reason, str]] = {
    "used": "one that was used before (if it was not you, `engramlog token --rotate` ends all sessions)",
    "over": "one that is over",
    "unknown": "none of this service",
}
_CODES: Final = "one of `engramlog console`, which works once, within ten minutes"
_KEYS: Final = "a key of this store that lives, or a token made of one"


def hashed(told: str) -> bytes:
    """What is kept of a secret."""
    return sha256(told.encode("utf-8", "surrogateescape")).digest()
