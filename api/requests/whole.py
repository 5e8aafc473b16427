"""What is asked of a whole store: light, for every process that may be asked it reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from events.parameters import ParameterValue

if TYPE_CHECKING:
    from api.requests.timelines import TimesAsked


class _AskedOfAPast(msgspec.Struct):
    """What may be asked of a past."""

    as_of: str | None = None
    known: str | None = None
    at: str | None = None

    def times(self) -> TimesAsked:
        """The past that is asked about."""
        told = {"as_of": self.as_of, "known": self.known, "at": self.at}
        return {name: value for name, value in told.items() if value is not None}  # type: ignore[return-value]


class WholeAsked(_AskedOfAPast, forbid_unknown_fields=True, tag_field="work", tag="replay"):
    """How its reading would change is asked of a whole store; JSON-ready, so that another process can be asked the same."""

    parameters: dict[str, ParameterValue] = {}
    profile: str | None = None
    strikes: dict[str, list[str]] = {}
    alone: bool = False
    queries: list[str] = []
    limit: int = 10


class HealthAsked(_AskedOfAPast, forbid_unknown_fields=True, tag_field="work", tag="health"):
    """How its memories are held, and what wants a look, is asked of a whole store."""


class ReadingAsked(msgspec.Struct, forbid_unknown_fields=True, tag_field="work", tag="extract"):
    """Turns of a whole store are to be read."""

    by: str = "rules"
    dry_run: bool = False
    again: bool = False
    """Those that were read before too."""


AnyAsked = WholeAsked | HealthAsked | ReadingAsked
"""What may be asked of all owners of a store."""
