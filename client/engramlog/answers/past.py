"""Fields of every answer about its position in time, and its distance from the log."""

from __future__ import annotations

from engramlog.answers.base import Result


class Warned(Result):
    """An answer that says so where the owner is quarantined, or the log has a gap."""

    quarantined: dict[str, str] | None = None
    """If the owner is quarantined, the `position` of the event at which its fold stopped and the `reason`: the
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
    """Fields of an answer about its position in time."""

    as_of: str | None
    known: str | None = None
    """The requested moment of recording (`known`)."""


class TimesTold(LinesTold):
    """And when its weights were computed."""

    at: str | None


class Place(TimesTold, Placed):
    """As of when an answer is, and the position it was computed at."""
