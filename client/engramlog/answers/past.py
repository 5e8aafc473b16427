"""What every answer says about the past that it is computed from, and how far it is behind the log."""

from __future__ import annotations

from engramlog.answers.base import Result


class Warned(Result):
    """An answer that says so where the owner is quarantined, or the log has a gap."""

    quarantined: dict[str, str] | None = None
    """Where the owner's fold stands still, the `position` of the event that it stands at and the `reason`: the
    answer is as of the event before. Left out where it goes on."""
    log_gap: str | None = None
    """Set if the log lost entries or holds entries that no append wrote. The answer uses the events before the
    gap; no event after the gap is folded. Absent if the log is complete."""


class Lagging(Warned):
    """And how far it is behind the log."""

    behind: int = 0
    """How far the owner's own head lies beyond `position`, in positions of its partition: at most so many of the
    owner's events are not in the answer. 0: it is level."""


class Placed(Lagging):
    """And the position that it was computed at."""

    position: str


class LinesTold(Result):
    """What an answer says of the past that it is about."""

    as_of: str | None
    known: str | None = None
    """What was asked of the line of what was recorded (`known`)."""


class TimesTold(LinesTold):
    """And when its weights were computed."""

    at: str | None


class Place(TimesTold, Placed):
    """As of when an answer is, and the position it was computed at."""
