"""Who sends a request: whoever shows the token of the folder, a session, a key, or a token made of one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers

from api.http.bearer import UNATTENDED, Admits, shown_in
from api.http.server.listener import OF_THIS_MACHINE, Listener
from api.http.sessions import Sessions
from projections.access.book import AccessBook
from projections.access.caller import AT_THE_FOLDER, Caller
from projections.access.recognising import UNKNOWN, Recognised, is_of_a_key, recognised
from projections.access.tokens import TokenSaid, read_token

CALLER = "engramlog.caller"
"""Name in an ASGI scope: who sends the request; None where nobody is known, on open paths alone."""
GONE = "a key that is over"
"""As what it is recorded that somebody shows one."""
MOST_READ = 1_000
"""Tokens of which it is remembered what they say."""
LOOKING = 4
"""Threads that look who may do what."""
Book = Callable[[], AccessBook]


class Callers:
    """Recognises callers. For one event loop."""

    def __init__(
        self,
        admits: Admits,
        sessions: Sessions | None = None,
        book: Book | None = None,
        clock: Callable[[], int] = lambda: 0,
        on_gone: Callable[[Caller], None] = lambda _caller: None,
    ) -> None:
        """`book` gives what was said of keys until it is asked; without it there are none. `clock`: microseconds since 1970.
        `on_gone` is told, in a thread, of a key that is shown and opens nothing any more."""
        self._admits = admits
        self._sessions = sessions
        self._book = book
        self._clock = clock
        self._on_gone = on_gone
        self._read = TokensRead()
        self._threads: CapacityLimiter | None = None

    async def of(self, headers: Headers, listener: Listener = OF_THIS_MACHINE) -> Recognised:
        """Who sends a request with these headers by a listener. Raises StoreUnavailable where that cannot be known.

        The folder's token, and sessions that it vouched for, open listeners of this machine alone.
        """
        shown = shown_in(headers)
        if shown is None:
            return UNKNOWN
        if not listener.public and self._opens_all(shown, headers):
            return Recognised(AT_THE_FOLDER)
        if self._book is None or not is_of_a_key(shown):
            return UNKNOWN
        if self._threads is None:
            self._threads = CapacityLimiter(LOOKING)
        return await run_sync(self._recognised, self._book, shown, limiter=self._threads)

    def _opens_all(self, shown: str, headers: Headers) -> bool:
        if self._admits(shown):
            return True
        return self._sessions is not None and self._sessions.admits(shown, attended=UNATTENDED not in headers)

    def _recognised(self, book: Book, shown: str) -> Recognised:
        found = recognised(book(), shown, self._clock(), self._read.read)
        if found.once is not None:
            self._on_gone(found.once)
        return found


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


def caller_in(scope: dict[str, object]) -> Caller | None:
    """Who sent a request that the guard handed on."""
    found = scope.get(CALLER)
    return found if isinstance(found, Caller) else None
