"""Sessions of the console: what a page shows in place of the token, and the one-time codes by which it gets them.

A page never has the token: what it has dies with this process, so that whoever takes the port later and is shown it has nothing.
Kept are hashes alone, in memory alone. A session is admitted only while the token that vouched for it is the one in force.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from secrets import token_bytes
from threading import Lock
from time import monotonic
from typing import Final, Literal, NamedTuple

from engramlog_server.events.errors import EngramlogError
from engramlog_server.projections.access.caller import Caller

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
"""So many are open at most; one more ends the one that rested longest."""
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
    vouched: bytes
    until: float
    seen: float


class Sessions:
    """The codes and sessions of one process. Safe for threads; nothing it does waits."""

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
        self.clock = clock
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
        vouching, made = self._in_force(), self.made(CODE_PREFIX)
        with self._lock:
            now = self.clock()
            self._tidy(now, vouching)
            while len(self._codes) >= MOST_CODES:
                self._pass(next(iter(self._codes)), "over")
            self._put(self._codes, made, _Kept(hashed(made), vouched, now + CODE_SECONDS, now))
        return CodeMade(made, CODE_SECONDS)

    def link(self, code: str) -> str | None:
        """The address that opens the console with a code; None on no port."""
        return None if self.page is None else f"{self.page}/#code={code}"

    def state(self, code: str) -> State:
        """What became of a code."""
        vouching = self._in_force()
        with self._lock:
            self._tidy(self.clock(), vouching)
            return self._state(hashed(code))

    def redeem(self, code: str) -> SessionMade:
        """A session for a code, which is used by that. Raises CodeRefused."""
        vouching, digest = self._in_force(), hashed(code)
        made = self.made(SESSION_PREFIX)
        with self._lock:
            now = self.clock()
            self._tidy(now, vouching)
            if vouching is None or self._found(self._codes, digest) is None:
                state = self._state(digest)
                reason: Reason = "unknown" if state == "waits" else state
                raise self._refusal(reason, now, "code", f"code: got {_TOLD[reason]}; allowed: {_CODES}")
            self._pass(digest[:_SELECTOR], "used")
            while len(self._open) >= MOST_SESSIONS:
                del self._open[min(self._open, key=lambda one: self._open[one].seen)]
            self._put(self._open, made, _Kept(hashed(made), vouching, now + LONGEST_SECONDS, now))
        return SessionMade(made, LONGEST_SECONDS, IDLE_SECONDS)

    def admits(self, shown: str, *, attended: bool = True) -> bool:
        """Whether this is the token of a session that is open; it has been used then, unless its page asked by itself."""
        if not shown.startswith(SESSION_PREFIX):
            return False
        vouching, digest = self._in_force(), hashed(shown)
        with self._lock:
            found, now = self._found(self._open, digest), self.clock()
            if found is None:
                return False
            if not _is_open(found, vouching, now):
                del self._open[digest[:_SELECTOR]]
                return False
            if attended:
                found.seen = now
            return True

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
            now = self.clock()
            for key in [key for key, one in self._open.items() if not _is_open(one, vouching, now)]:
                del self._open[key]
            return len(self._open)

    def refusal_of_key(self, reason: Reason, got: str) -> CodeRefused:
        """Why a key opens no session, where not many were refused; `got`: what it was, for whoever holds it."""
        with self._lock:
            return self._refusal(reason, self.clock(), "key", f"key: got {got}; allowed: {_KEYS}")

    def made(self, prefix: str) -> str:
        """A new secret of 256 random bits."""
        return prefix + urlsafe_b64encode(self._chance(32)).rstrip(b"=").decode()

    def _put(self, kept: dict[bytes, _Kept], made: str, one: _Kept) -> None:
        kept[hashed(made)[:_SELECTOR]] = one

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
        for key in [key for key, one in self._codes.items() if not _is_open(one, vouching, now)]:
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


def _is_open(one: _Kept, vouching: bytes | None, now: float) -> bool:
    vouched = vouching is not None and compare_digest(one.vouched, vouching)
    return vouched and now < one.until and now - one.seen < IDLE_SECONDS


def hashed(told: str) -> bytes:
    """What is kept of a secret."""
    return sha256(told.encode("utf-8", "surrogateescape")).digest()


MOST_OF_A_KEY: Final = 20
"""So many of one key are open at most; one more ends the one that rested longest."""
MOST: Final = 1_000
"""So many of all keys together; one more ends the one that rested longest."""


class _Held(NamedTuple):
    """A session: of whom, and until when."""

    digest: bytes
    caller: Caller
    until: float
    seen: float

    def is_open(self, now: float) -> bool:
        return now < self.until and now - self.seen < IDLE_SECONDS


class KeySessions:
    """The sessions of keys of one process. Safe for threads; nothing it does waits."""

    def __init__(self, sessions: Sessions) -> None:
        """`sessions`: those of the folder's token, whose clock and chance these have."""
        self._clock = sessions.clock
        self._made = sessions.made
        self._lock = Lock()
        self._open: dict[bytes, _Held] = {}

    def begin(self, caller: Caller, lasts: float | None = None) -> SessionMade:
        """A session of this caller. `lasts`: seconds until what he showed ends; None: it does not by itself."""
        made = self._made(SESSION_PREFIX)
        longest = LONGEST_SECONDS if lasts is None else min(LONGEST_SECONDS, max(0, int(lasts)))
        with self._lock:
            now = self._clock()
            self._tidy(now)
            self._make_room(
                [one for one, held in self._open.items() if held.caller.key_id == caller.key_id], MOST_OF_A_KEY
            )
            self._make_room(list(self._open), MOST)
            digest = hashed(made)
            self._open[digest[:_SELECTOR]] = _Held(digest, caller, now + longest, now)
        return SessionMade(made, longest, IDLE_SECONDS)

    def whose(self, shown: str, *, attended: bool = True) -> Caller | None:
        """Who opened this session, where it is open, as he was then; it has been used then, unless its page asked by itself."""
        if not shown.startswith(SESSION_PREFIX):
            return None
        digest = hashed(shown)
        with self._lock:
            now, held = self._clock(), self._found(digest)
            if held is None:
                return None
            if not held.is_open(now):
                del self._open[digest[:_SELECTOR]]
                return None
            if attended:
                self._open[digest[:_SELECTOR]] = held._replace(seen=now)
            return held.caller

    def end(self, shown: str) -> bool:
        """End a session; whether there was one."""
        digest = hashed(shown)
        with self._lock:
            held = self._found(digest)
            if held is not None:
                del self._open[digest[:_SELECTOR]]
            return held is not None

    @property
    def open(self) -> int:
        """How many are open."""
        with self._lock:
            self._tidy(self._clock())
            return len(self._open)

    def _found(self, digest: bytes) -> _Held | None:
        held = self._open.get(digest[:_SELECTOR])
        return held if held is not None and compare_digest(held.digest, digest) else None

    def _make_room(self, among: list[bytes], most: int) -> None:
        for one in sorted(among, key=lambda one: self._open[one].seen)[: max(0, len(among) - most + 1)]:
            del self._open[one]

    def _tidy(self, now: float) -> None:
        for one in [one for one, held in self._open.items() if not held.is_open(now)]:
            del self._open[one]
