"""Sessions of the console that were opened with a key, or with a token made of one.

Whoever has one is that caller, looked up in the book of access at each request: he may what his grants let him then, and nothing
once the key is revoked or over. The key itself is not kept, here or in the page. Each key has so many at most, so that who has a
key ends nobody else's session.
"""

from __future__ import annotations

from hmac import compare_digest
from threading import Lock
from typing import Final, NamedTuple

from api.http.access.sessions import IDLE_SECONDS, LONGEST_SECONDS, SESSION_PREFIX, SessionMade, Sessions, hashed
from projections.access.caller import Caller

MOST_OF_A_KEY: Final = 20
"""So many of one key are open at most; one more ends the one that rested longest."""
MOST: Final = 1_000
"""So many of all keys together; one more ends the one that rested longest."""
_SELECTOR: Final = 8


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
