"""Replays and retractions."""

from __future__ import annotations

from engramlog.answers.base import Result
from engramlog.answers.changes import Change
from engramlog.answers.comparing import QuestionMoved, SideStanding
from engramlog.answers.past import Place, Placed
from engramlog.answers.sources import SomeMemories


class StruckEvent(Result):
    """An event that is struck."""

    position: str
    event_id: str
    event: str
    """Its type."""
    memory: str | None
    """The memory that it is about, the first that it names."""
    because: str
    """`named`; `caused` (by what is struck); `same_turn` (it says a turn that is struck); `of_turn` (it was done
    for such a turn); `source_turns` (all turns that it was read in are struck); `merges`, `summarises` (what is
    struck)."""
    of: str
    """The named selection, or the position of its cause, turn or memory."""


class StaysTold(Result):
    """A memory that was drawn from what is struck, and stays."""

    memory: str
    position: str
    """Position of the event that made it."""
    because: str
    """`other_turns`: a turn that stands says it too; `said_again`: the user said it again elsewhere."""
    of: str
    """That turn, or the position of what he said."""


class EventsCounted(Result):
    """Events of one kind."""

    kind: str
    """Their type; `reply` and `access` where others decided in the light of what is struck."""
    events: int
    first: list[str]
    """Positions of the first three."""


class ReplayedDiffer(Result):
    """A memory that stands otherwise in a replay, or on one side alone."""

    id: str
    memory: str | None
    """Its text as answered, else as it would be; null if purged, and outside debug mode if deleted."""
    today: SideStanding | None
    """As it is answered; null where there is no such memory."""
    replayed: SideStanding | None
    """As it would be; null where there would be no such memory."""
    fields: list[str]
    """Fields that differ, by name."""


class StrikesTold(Result):
    """The selection that is left out."""

    without: list[str]
    without_turns: list[str]
    without_sessions: list[str]
    without_sources: list[str]
    without_actors: list[str]
    without_principals: list[str]
    without_correlations: list[str]
    without_models: list[str]


class ClosureTold(Result):
    """Events left out with the selection, and events that stay."""

    struck: list[StruckEvent]
    """A page, in the order of the log."""
    struck_total: int
    struck_because: dict[str, int]
    """How many of all for which reason."""
    stays: list[StaysTold]
    """A page of what was drawn from what is struck, and stays."""
    stays_total: int
    without_effect: list[EventsCounted]
    """Events that are folded and fall into nothing: about memories that are not made."""
    in_its_light: list[EventsCounted]
    """Later decisions of others who saw the excluded events, which are still folded: replies, accesses, decisions of
    jobs and reviewers by type."""


class Replayed(StrikesTold, ClosureTold, Place):
    """Differences of a replay under other parameters or without some events."""

    owner: str
    set: dict[str, float | int | str | bool]
    profile: str | None = None
    """The law that was folded and read under; null for the owner's own."""
    alone: bool
    mode: str
    events: dict[str, int]
    """How many were folded, `today` and `replayed`."""
    differences: list[ReplayedDiffer]
    """A page; what is answered first, in its order."""
    changed_fields: dict[str, int]
    """In what those differ that both sides have, and how many: weight, status, content ..."""
    total: int
    """Of the differences."""
    offset: int
    questions: list[QuestionMoved]
    """`before` as it is answered, `after` as it would be."""


class UndoEvent(Result):
    """An event that undoes, of a person."""

    event: str
    memory: str | None
    """The memory that it is about; null where it is about a source or the owner."""


class NotUndoneTold(Result):
    """Excluded events that no event can undo."""

    kind: str
    """The type of the events."""
    why: str
    why_code: str | None = None
    """Which of the service's sentences `why` is, where it has a name."""
    events: int
    first: list[str]
    """Positions of the first three."""


class StandsOtherwise(Result):
    """A memory that stands otherwise afterwards than a replay has it."""

    id: str
    fields: list[str]
    """What differs, by name."""
    retracted: SideStanding | None
    replayed: SideStanding | None


class Retracted(StrikesTold, ClosureTold, Placed):
    """Reach of undoing a part of a history."""

    owner: str
    dry_run: bool
    """Whether this only tells what would be done: nothing was written."""
    again: bool
    """Whether it was carried out before, under this reach or key."""
    alone: bool
    mode: str
    offset: int
    reach: str
    """Digest of the reach; carrying it out requires it."""
    undoes: list[UndoEvent]
    """A page of the events that undo."""
    undoes_total: int
    goes: SomeMemories
    """Shown by normal mode, and no more then."""
    comes_back: SomeMemories
    """Shown by normal mode then, and not before."""
    changed: SomeMemories
    """Stand otherwise then."""
    changed_fields: dict[str, int]
    """In what these do, and how many: weight, status, content ..."""
    not_undone: list[NotUndoneTold]
    """Excluded events that no event can undo; they stay."""
    remains: list[StandsOtherwise]
    """A page of the memories that then stand otherwise than a replay without what is struck has them."""
    remains_total: int
    questions: list[QuestionMoved]
    """`before` as it is answered, `after` as it would be then."""
    changes: list[Change]
    """Entries of the change log, where it was carried out."""
