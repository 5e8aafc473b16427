"""Setting a source aside, and bringing it back, as commands. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from engramlog_server.events.errors import refused
from engramlog_server.projections.decide.command import Ids, Made, View
from engramlog_server.projections.decide.commands import Tell


@dataclass(frozen=True, slots=True)
class BringBack(Tell):
    """A source counts again; one that is not set aside cannot be brought back."""

    stands: bool = True
    """Whether it is set aside now."""
    source: str = ""
    """It, in words."""

    def events(self, view: View, ids: Ids) -> list[Made]:
        """See `Command.events`."""
        if not self.stands:
            raise refused("session", self.source, "a source that is set aside, named as it was then")
        return Tell.events(self, view, ids)
