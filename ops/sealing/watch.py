"""What is watched of a service whose store is sealed: whether its master key can be had."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event as Flag
from threading import Thread
from typing import Final

from events.alarms import KEYS_UNAVAILABLE, Alarms
from events.sealing.seals import Seals

LOOK_SECONDS: Final = 5.0
OPEN_STORE = "a master key is set, and this store lies open: `engramlog seal` brings it over"
"""What is told once of settings that seal nothing."""
Tell = Callable[..., None]


class KeyWatch:
    """Has a thread look whether the master key can be had, for a key service may be slow; raises an alarm while it cannot."""

    def __init__(self, seals: Seals, alarms: Alarms, tell: Tell, seconds: float = LOOK_SECONDS) -> None:
        self._seals = seals
        self._alarms = alarms
        self._tell = tell
        self._seconds = seconds
        self._over = Flag()
        self._told: str | None = ""
        """What was told last; at first whatever an earlier process left."""
        if not seals.is_on and seals.master is not None:
            tell("store lies open", what=OPEN_STORE, alarm=True)

    def start(self) -> KeyWatch:
        """Begin to look, where there is a key to look for."""
        if self._seals.is_on:
            Thread(target=self._look, name="master key", daemon=True).start()
        return self

    def stop(self) -> None:
        """Look no more."""
        self._over.set()

    def tend(self) -> None:
        """Tell what has changed; waits for nobody."""
        reason = (self._seals.standing().reason or None) if self._seals.is_on else None
        if reason == self._told:
            return
        before, self._told = self._told, reason
        if reason is None:
            self._alarms.cleared(KEYS_UNAVAILABLE)
            if before:
                self._tell("master key can be had again")
        else:
            self._alarms.raised(KEYS_UNAVAILABLE, "", reason)
            self._tell("master key cannot be had", reason=reason, alarm=True)

    def _look(self) -> None:
        while not self._over.wait(self._seconds):
            self._seals.look()
