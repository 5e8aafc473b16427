"""Alarms that a test looks at."""

from __future__ import annotations


class KeptAlarms:
    """Alarms in a dict: (name, subject) -> text."""

    def __init__(self) -> None:
        self.standing: dict[tuple[str, str], str] = {}

    def raised(self, name: str, subject: str = "", text: str = "") -> None:
        """See `Alarms.raised`."""
        self.standing[name, subject] = text

    def cleared(self, name: str, subject: str = "") -> None:
        """See `Alarms.cleared`."""
        self.standing.pop((name, subject), None)
