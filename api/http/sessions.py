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
from engramlog_server.projections.access.caller import AT_THE_FOLDER, Caller

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
