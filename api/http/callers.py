"""Who sends a request: whoever shows the token of the folder, a session, a key, or a token made of one."""

from __future__ import annotations

from collections.abc import Callable

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers

from api.http.bearer import UNATTENDED, Admits, shown_in
from api.http.key_sessions import KeySessions
from api.http.sessions import Sessions
from projections.access.book import AccessBook
from projections.access.caller import AT_THE_FOLDER, Caller
from projections.access.recognising import UNKNOWN, Recognised, is_of_a_key, recognised, still

CALLER = "engramlog.caller"
"""Name in an ASGI scope: who sends the request; None where nobody is known, on open paths alone."""
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
        keyed: KeySessions | None = None,
    ) -> None:
        """`book` gives what was said of keys until it is asked; without it there are none. `clock`: microseconds since 1970.

        `keyed`: sessions that were opened with a key.
        """
        self._admits = admits
        self._sessions = sessions
        self._book = book
        self._clock = clock
        self._keyed = keyed
        self._threads: CapacityLimiter | None = None

    async def of(self, headers: Headers, *, attended: bool = True) -> Recognised:
        """Who sends a request with these headers. Raises StoreUnavailable where that cannot be known.

        `attended`: whether somebody asks, and not the service itself, of a request that waits.
        """
        shown, attended = shown_in(headers), attended and UNATTENDED not in headers
        if shown is None:
            return UNKNOWN
        if self._admits(shown):
            return Recognised(AT_THE_FOLDER)
        if self._sessions is not None and self._sessions.admits(shown, attended=attended):
            return Recognised(AT_THE_FOLDER)
        held = None if self._keyed is None else self._keyed.whose(shown, attended=attended)
        if held is None:
            return await self.of_a_key(shown)
        found = await self._looked(lambda book, now: still(book, held, now))
        return found if found.caller else found._replace(got=f"a session of {found.got}")

    async def of_a_key(self, shown: str) -> Recognised:
        """Who shows this key, or token made of one. Raises StoreUnavailable where that cannot be known."""
        if not is_of_a_key(shown):
            return UNKNOWN
        return await self._looked(lambda book, now: recognised(book, shown, now))

    async def _looked(self, look: Callable[[AccessBook, int], Recognised]) -> Recognised:
        if self._book is None:
            return UNKNOWN
        if self._threads is None:
            self._threads = CapacityLimiter(LOOKING)
        return await run_sync(self._look, self._book, look, limiter=self._threads)

    def _look(self, book: Book, look: Callable[[AccessBook, int], Recognised]) -> Recognised:
        return look(book(), self._clock())


def caller_in(scope: dict[str, object]) -> Caller | None:
    """Who sent a request that the guard handed on."""
    found = scope.get(CALLER)
    return found if isinstance(found, Caller) else None
