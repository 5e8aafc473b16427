"""Who sends a request: whoever shows the token of the folder, a session, a key, a token made of one, or one of the company's own
identity provider."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.datastructures import Headers

from api.http.bearer import UNATTENDED, Admits, shown_in
from api.http.sessions import Sessions
from projections.access.book import AccessBook
from projections.access.caller import AT_THE_FOLDER, Caller
from projections.access.provider import Signed, TokenRules, caller_of_claims, canonical, read_claims, signed_by
from projections.access.provider_keys import ProviderKey
from projections.access.recognising import SECOND, UNKNOWN, Recognised, is_of_a_key, recognised
from projections.access.tokens import TokenRefused

CALLER = "engramlog.caller"
"""Name in an ASGI scope: who sends the request; None where nobody is known, on open paths alone."""
LOOKING = 4
"""Threads that look who may do what."""
WAITING = 4
"""Threads that wait for the identity provider's keys: nobody whose key is known waits behind them."""
Book = Callable[[], AccessBook]
Audiences = Callable[[str, TokenRules], Collection[str]]
"""Whom a token may be for that is shown at a path."""


class Provider(Protocol):
    """The company's own identity provider."""

    rules: TokenRules

    def known(self, key_id: str) -> ProviderKey | None:
        """A key that is known, at once."""

    def found(self, key_id: str) -> ProviderKey | None:
        """A key, asked for where it is time to; None where there is none. May wait; raises IdentityUnavailable."""


def of_the_service(_path: str, rules: TokenRules) -> Collection[str]:
    """The service itself, at whatever path."""
    return (canonical(rules.audience),)


class Callers:
    """Recognises callers. For one event loop."""

    def __init__(
        self,
        admits: Admits,
        sessions: Sessions | None = None,
        book: Book | None = None,
        clock: Callable[[], int] = lambda: 0,
        provider: Provider | None = None,
        audiences: Audiences = of_the_service,
    ) -> None:
        """`book` gives what was said of keys until it is asked; without it there are none. `clock`: microseconds since 1970."""
        self._admits = admits
        self._sessions = sessions
        self._book = book
        self._clock = clock
        self._provider = provider
        self._audiences = audiences
        self._threads: CapacityLimiter | None = None
        self._patient: CapacityLimiter | None = None

    async def of(self, headers: Headers, path: str = "") -> Recognised:
        """Who sends a request with these headers to a path. Raises StoreUnavailable and IdentityUnavailable where that cannot be
        known."""
        shown = shown_in(headers)
        if shown is None:
            return UNKNOWN
        if self._admits(shown):
            return Recognised(AT_THE_FOLDER)
        if self._sessions is not None and self._sessions.admits(shown, attended=UNATTENDED not in headers):
            return Recognised(AT_THE_FOLDER)
        if self._book is None:
            return UNKNOWN
        if is_of_a_key(shown):
            return await run_sync(self._recognised, self._book, shown, limiter=self._looking())
        return await self._of_provider(self._book, shown, path)

    async def _of_provider(self, book: Book, shown: str, path: str) -> Recognised:
        signed = None if self._provider is None else signed_by(shown)
        if self._provider is None or signed is None:
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
        self, book: Book, shown: str, key: ProviderKey, rules: TokenRules, audiences: Collection[str]
    ) -> Recognised:
        try:
            claims = read_claims(shown, key, rules, audiences, self._clock() // SECOND)
        except TokenRefused as error:
            return Recognised(None, str(error))
        return Recognised(caller_of_claims(book(), claims))

    def _recognised(self, book: Book, shown: str) -> Recognised:
        return recognised(book(), shown, self._clock())


def caller_in(scope: Mapping[str, object]) -> Caller | None:
    """Who sent a request that the guard handed on."""
    found = scope.get(CALLER)
    return found if isinstance(found, Caller) else None
