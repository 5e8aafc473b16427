"""How long a test waits for a fact before it fails: far longer than it takes, on a machine with ten times the work too.

Nothing is measured by it, and no test is slower for it: what is waited for is looked at all the while.
"""

from __future__ import annotations

PATIENCE = 300.0
"""Seconds; well within pytest's own limit for a test."""


class UntilTold:
    """Waits until told what for, and not a moment longer: the listener (`on_wait`) and the clock (`now`) of one wait."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def hear(self, sentence: str) -> None:
        """What is waited for."""
        self.told.append(sentence)

    def now(self) -> float:
        """Seconds: nothing passes until then, and afterwards all time has passed."""
        return 1e9 if self.told else 0.0
