"""Reading the store for a scrape: bounded in time, kept for a second, and what could not be read is counted."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Condition, Thread
from time import monotonic
from typing import Any

KEPT_SECONDS = 1.0
"""How long what was read is kept, so that many scrapers cost what one costs."""
MOST_SECONDS = 4.0
"""How long a scrape waits for the store, less than the ten seconds that Prometheus waits for a scrape."""
LATE = "late"
"""Counted beside the parts: the store did not answer in time."""
Read = Callable[[], Any]


@dataclass
class StoreRead:
    """What one look at the store brought, by part; a part that could not be read is missing."""

    parts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    at: float = float("-inf")
    """When it was read, by a steady clock."""


class Scrape:
    """Reads parts of the store, in a thread of its own: a Redis that hangs holds no scrape longer than `most_seconds`.

    What comes late is for the next scrape. Safe for threads; at most one look at a time.
    """

    def __init__(self, parts: Mapping[str, Read], *, most_seconds: float = MOST_SECONDS) -> None:
        self._parts = dict(parts)
        self._most_seconds = most_seconds
        self._changed = Condition()
        self._kept: StoreRead | None = None
        self._looking = False
        self.errors: Counts[str] = Counts(dict.fromkeys((*self._parts, LATE), 0))
        """How often each part could not be read."""

    def read(self) -> StoreRead:
        """What stands now, or did within the last second; empty where the store did not answer in time."""
        end = monotonic() + self._most_seconds
        with self._changed:
            while not self._is_fresh():
                if not self._looking:
                    self._looking = True
                    Thread(target=self._look, name="scrape", daemon=True).start()
                if not self._changed.wait(max(end - monotonic(), 0.0)) and monotonic() >= end:
                    self.errors[LATE] += 1
                    return StoreRead(seconds=self._most_seconds)
            assert self._kept is not None
            return self._kept

    def _is_fresh(self) -> bool:
        return self._kept is not None and monotonic() - self._kept.at <= KEPT_SECONDS

    def _look(self) -> None:
        began, found = monotonic(), StoreRead()
        for name, read in self._parts.items():
            try:
                found.parts[name] = read()
            except Exception:  # noqa: BLE001 - whatever it is, the other parts are told, and that this one is missing
                with self._changed:
                    self.errors[name] += 1
        found.at = monotonic()
        found.seconds = found.at - began
        with self._changed:
            self._kept, self._looking = found, False
            self._changed.notify_all()
