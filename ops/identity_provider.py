"""The keys of an identity provider as this process has them: fetched seldom and within bounds, held for a while if nobody answers.

One look at a time, in a thread of its own. An unknown key is looked for at most every half minute: invented key ids cause no
requests. Known keys are used at once, and fetched again in the background.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from time import monotonic
from typing import Any

import orjson

from engramlog_server.events.alarms import ConditionAlarm
from engramlog_server.events.errors import IdentityUnavailable
from engramlog_server.ops.keys.exchange import NotAnswered, exchanged
from engramlog_server.ops.settings import Settings, is_safe
from engramlog_server.projections.access.provider import ProviderKey, ProviderRules, keys_in

SECONDS = 5.0
"""For one address, from the connection to the last byte."""
MOST_BYTES = 1 << 20
DISCOVERY = "/.well-known/openid-configuration"


class NotTold(Exception):
    """The provider did not answer, or answered something else; the text says which."""


def keys_at(issuer: str, seconds: float = SECONDS) -> Mapping[str, ProviderKey]:
    """The keys of a provider, by discovery. Raises NotTold."""
    where = _discovered(issuer, seconds)
    document = fetched(where, seconds)
    try:
        return keys_in(document)
    except ValueError as error:
        raise NotTold(f"{_shown(where)}: {error}") from None


def fetched(url: str, seconds: float = SECONDS) -> bytes:
    """The document at an address. Raises NotTold for anything but 200 and at most `MOST_BYTES`, in time."""
    if not is_safe(url):
        raise NotTold("an address that is neither https nor http of this machine")
    try:
        status, document = exchanged(url, seconds=seconds, most=MOST_BYTES, headers={"Accept": "application/json"})
    except NotAnswered as error:
        raise NotTold(f"{_shown(url)}: {error}") from None
    if status != 200:
        raise NotTold(f"{_shown(url)}: answered {status}")
    return document


def _discovered(issuer: str, seconds: float) -> str:
    """The address of an issuer's keys (OpenID Connect Discovery). Raises NotTold."""
    where = issuer.removesuffix("/") + DISCOVERY
    try:
        told = orjson.loads(fetched(where, seconds))
    except orjson.JSONDecodeError:
        raise NotTold(f"{_shown(where)}: no JSON") from None
    if not isinstance(told, dict) or told.get("issuer") != issuer or not isinstance(told.get("jwks_uri"), str):
        raise NotTold(f"{_shown(where)}: another issuer than {_shown(issuer)}, or no jwks_uri")
    return str(told["jwks_uri"])


def _shown(url: str) -> str:
    """An address without what may be secret in it."""
    return url.partition("?")[0][:200]


FRESH_SECONDS = 300.0
"""Age from which keys are fetched again."""
HELD_SECONDS = 3_600.0
"""How long keys are valid if they cannot be fetched again; then no token of the provider is admitted."""
AGAIN_SECONDS = 30.0
"""Between two looks for a key that is not known."""
RETRY_SECONDS = 5.0
"""Between two looks where the last one failed."""
PATIENT_SECONDS = 2 * SECONDS + 1
"""How long somebody with an unknown key waits for a look."""
ALARM = "identity_unreachable"
Fetch = Callable[[], Mapping[str, ProviderKey]]


def in_a_thread(work: Callable[[], None]) -> None:
    """Run this in a thread."""
    Thread(target=work, name="identity", daemon=True).start()


class ProviderKeys:
    """See `api.http.callers.Provider`. Safe for threads."""

    def __init__(
        self,
        rules: ProviderRules,
        fetch: Fetch,
        tell: Callable[..., Any] = lambda *_told, **_facts: None,
        *,
        clock: Callable[[], float] = monotonic,
        beside: Callable[[Callable[[], None]], None] = in_a_thread,
    ) -> None:
        """`fetch` raises NotTold. `clock`: seconds, never backwards."""
        self.rules = rules
        self._fetch = fetch
        self._tell = tell
        self._clock = clock
        self._beside = beside
        self._lock = Lock()
        self._keys: Mapping[str, ProviderKey] = {}
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._trouble: str | None = None
        self._look: Future[None] | None = None

    def known(self, key_id: str) -> ProviderKey | None:
        """A key that is known, at once."""
        with self._lock:
            key = self._held().get(key_id)
            stale = self._read_at is None or self._clock() - self._read_at >= FRESH_SECONDS
            begun = self._due(RETRY_SECONDS) if key is not None and stale else None
        if begun is not None:
            self._beside(begun)
        return key

    def found(self, key_id: str) -> ProviderKey | None:
        """A key, fetched if a fetch is due; None if there is none. Waits, and raises IdentityUnavailable."""
        with self._lock:
            held = self._held()
            if key_id in held:
                return held[key_id]
            begun = self._due(AGAIN_SECONDS if held and self._trouble is None else RETRY_SECONDS)
            look = self._look
        if begun is not None:
            self._beside(begun)
        if look is not None:
            with suppress(TimeoutError):
                look.result(PATIENT_SECONDS)
        with self._lock:
            held = self._held()
            if not held or (key_id not in held and self._trouble is not None):
                raise IdentityUnavailable(
                    "identity provider: its keys cannot be had, so nobody with a new token of it is admitted; try again",
                    retry_after=5,
                )
            return held.get(key_id)

    def look(self) -> None:
        """Fetch in the background if nothing was fetched yet, or the last fetch failed and another is due."""
        with self._lock:
            wanted = self._tried_at is None or self._trouble is not None
            begun = self._due(AGAIN_SECONDS) if wanted else None
        if begun is not None:
            self._beside(begun)

    def trouble(self) -> str | None:
        """Why the last fetch failed; None if it succeeded, or there was none."""
        with self._lock:
            if self._trouble is None:
                return None
            over = "and no key is known any more" if not self._held() else "known keys hold for an hour"
            return f"{self._trouble}; {over}"

    def _held(self) -> Mapping[str, ProviderKey]:
        fresh = self._read_at is not None and self._clock() - self._read_at < HELD_SECONDS
        return self._keys if fresh else {}

    def _due(self, pause: float) -> Callable[[], None] | None:
        """The work of a fetch, if none is running and the last was long enough ago; under the lock."""
        now = self._clock()
        if self._look is not None or (self._tried_at is not None and now - self._tried_at < pause):
            return None
        self._tried_at = now
        look = self._look = Future[None]()
        return lambda: self._looked(look)

    def _looked(self, look: Future[None]) -> None:
        keys, trouble = None, None
        try:
            keys = self._fetch()
        except NotTold as error:
            trouble = str(error)
        except Exception as error:  # noqa: BLE001 - the thread's end: waiting threads must not wait for ever
            trouble = type(error).__name__
        with self._lock:
            before, self._trouble = self._trouble, trouble
            if keys is not None:
                self._keys, self._read_at = keys, self._clock()
            self._look = None
        look.set_result(None)
        if trouble is not None and before is None:
            self._tell("identity provider not reached", reason=trouble, alarm=True)
        elif trouble is None and before is not None:
            self._tell("identity provider reached")


def look_for_keys(keys: ProviderKeys | None, alarm: ConditionAlarm) -> None:
    """Ask for the provider's keys if it is time to, and report whether they could be had."""
    if keys is not None:
        keys.look()
    alarm.report(None if keys is None else keys.trouble())


def provider_of(settings: Settings, tell: Callable[..., Any]) -> ProviderKeys | None:
    """The identity provider that the settings name, if any. Fetches nothing yet."""
    issuer, audience = settings.identity_issuer, settings.identity_audience
    if issuer is None or audience is None:
        return None
    rules = ProviderRules(issuer, audience, settings.identity_scopes)
    return ProviderKeys(rules, lambda: keys_at(issuer), tell)
