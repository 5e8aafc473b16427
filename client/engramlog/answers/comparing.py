"""Comparisons: laws, curves, two moments, two memories, replays and retractions."""

from __future__ import annotations

from typing import Any

from engramlog.answers.base import LinesTold, Place, Placed, Result
from engramlog.answers.changes import Change
from engramlog.answers.memories import SomeMemories, Withheld


class LawReading(Result):
    """Memories that one law shows of the owner."""

    threshold: float
    """Least unclipped weight shown in normal mode."""
    shown: int
    withheld: list[Withheld]


class Standing(Result):
    """One memory under one law."""

    weight: float
    """Unclipped, as the threshold reads it."""
    level: str
    shown: bool
    """In normal mode."""
    reason: str | None
    """Why it is withheld; null where it is shown."""
    rank: float
    """1 for the heaviest; equal weights share the mean of their places."""


class Pair(Result):
    """How far two laws agree."""

    laws: list[str]
    shown_by_one: int
    """Memories that only one of them shows."""
    rank_correlation: float | None
    """Spearman's rank correlation; null if a law gives all memories the same weight."""


class ComparedMemory(Result):
    """One memory under every law."""

    id: str
    memory: str
    """Its text; `[withheld: ...]` for a secret."""
    category: str
    kind: str
    status: str
    tier: str
    laws: dict[str, Standing]
    spread: float
    """Between its highest and its lowest rank."""


class Compared(Place):
    """An owner's memories under every law, those first on which the laws disagree most."""

    profile: str
    laws: dict[str, LawReading]
    pairs: list[Pair]
    memories: list[ComparedMemory]
    total: int
    """Memories that are neither deleted, merged away nor retired."""
    offset: int
    owner: str
    instant: str


class Curve(Result):
    """One law's curve; one element an instant."""

    threshold: float
    """Threshold of normal mode, by the parameters at the end."""
    weights: list[float | None]
    """Unclipped; null before its creation and after its purge."""
    shown: list[bool]
    """In normal mode under this law."""


class Jump(Result):
    """A weight just before an event and just after it."""

    before: float | None
    after: float | None


class Touch(Placed):
    """An event that changed the memory, or the parameters by which it is read."""

    time: str
    event: str
    decision: str
    """As in the change log; `access` for events without an entry there."""
    reason: str
    weights: dict[str, Jump]


class Curves(LinesTold, Placed):
    """One memory's weights under every law over time."""

    owner: str
    id: str
    title: str
    window: dict[str, str]
    """`from` and `to`, the instants between which the curves run."""
    times: list[str]
    """Evenly spaced instants, and two for every event: just before it and at it."""
    laws: dict[str, Curve]
    events: list[Touch]
    folded_together: int
    """Late events that are counted with a later one, because they were too many; nearly always 0."""


class SideStanding(Result):
    """A memory on one of two sides."""

    weight: float
    """Unclipped, by the owner's law on that side."""
    level: str
    status: str
    trust: str
    is_negated: bool
    mention_count: int
    shown: bool
    """Whether the mode shows it without a query."""
    reason: str | None
    """Why the mode withholds it; null where it is shown."""


class SidesDiffer(Result):
    """A memory that differs between two sides, or is on one side only."""

    id: str
    before: SideStanding | None
    """Null where that side has no such memory."""
    after: SideStanding | None
    """Null where that side has no such memory."""
    fields: list[str]
    """Fields that differ, by name."""


class RankMoved(Result):
    """A result that stands elsewhere, came or went."""

    id: str
    before: int | None
    """Its rank, 1 for the first; null where it is not among the results."""
    after: int | None
    passed: str | None
    """The memory that is newly above one that fell, or is no longer above one that rose.
    Null if that did not change, or if one side lacks it."""


class QuestionMoved(Result):
    """One question's results on two sides."""

    query: str
    before: list[str]
    """Ids, the best first."""
    after: list[str]
    moved: list[RankMoved]


class EventCause(Result):
    """An event that is part of one side and not of the other, as the change log has it."""

    position: str
    event_id: str
    event: str
    memory: str | None
    """Which memory it was about; null where it was about the owner."""
    time: str
    """When it happened, as its producer says."""
    recorded_at: str | None
    """When the log recorded it; null if that is unknown."""
    late_by: float | None
    """Seconds, where it was recorded more than five minutes after `time`."""
    decision: str
    """Decision of the fold; `access` if the event only showed the memory."""
    reason: str
    """The fold's own words."""
    actor: str | None
    principal: str | None
    """Principal that sent it; null if unknown."""
    correlation_id: str | None
    said_reason: str | None
    """The sender's reason, as far as the caller may read it today."""
    because: str | None
    """Why the memory is kept, as its creation or revision says."""
    side: str
    """`after` or `before`: the side that it is part of."""


class RankOf(Result):
    """A memory's rank among the results of one question on the two sides."""

    question: int
    """Which of `questions`, from 0."""
    before: int | None
    after: int | None


class MemoryDiffers(SidesDiffer):
    """A memory that differs between two moments, and by what."""

    kind: str
    """`made`, `gone` (absent, deleted or purged by the end), `changed` (by events, or in what it says), `crossed`
    (shown or not, level, reason or rank, and no event was about it) or `weight` (nothing else moved)."""
    memory: str | None
    """Its text on the later side that has it; null if it is purged, and outside debug mode if it is deleted
    on both."""
    was: str | None
    """Its text before, if that differs."""
    deleted_since: bool
    """Whether somebody deleted it by today, though the later side has it."""
    cause: str
    """`events`; `access` (it was shown); `owner` (another law, other parameters, something set aside or rejected);
    `others` (what happened to other memories); or `time`."""
    causes: list[EventCause]
    """The newest of its events, the newest first."""
    more_causes: int
    """How many more there are."""
    ranks: list[RankOf]
    """Its ranks for the questions in whose results it moved."""


class FromTo(Result):
    """A value on the two sides."""

    before: Any
    after: Any


class OwnerDiffers(Result):
    """Differences of the owner's settings."""

    profile: FromTo | None
    """The law; null where it is the same."""
    parameters: dict[str, FromTo]
    """Those that differ, by name."""


class OwnerChanged(OwnerDiffers):
    """And the events about the owner that are part of one side alone."""

    causes: list[EventCause]
    more_causes: int


class ByWhom(Result):
    """How many events of one principal and actor are the causes."""

    principal: str | None
    actor: str | None
    events: int


class SideTold(Result):
    """One of the two sides."""

    asked: str | None
    """The moment as it was asked for; null is now."""
    instant: str
    """At which its weights are computed."""
    position: str
    events: int
    """How many of the owner's events it is made of."""


class DiffCounts(Result):
    """How many memories differ, by kind, and how many weights alone moved, by cause."""

    made: int
    gone: int
    changed: int
    crossed: int
    by_time: int
    by_access: int
    by_owner: int
    by_others: int


class Diff(LinesTold, Placed):
    """Changes between two moments, with actors and reasons."""

    owner: str
    line: str
    """`known` or `happened`: the time line of both moments."""
    mode: str
    before: SideTold
    after: SideTold
    counts: DiffCounts
    memories: list[MemoryDiffers]
    """A page of them: made, gone, changed, crossed, weight."""
    total: int
    """How many are listed in all."""
    offset: int
    owner_changes: OwnerChanged
    by_principal: list[ByWhom]
    """Principals of the events about changed memories and the owner, most events first; at most 100."""
    questions: list[QuestionMoved]
    on_other_line: int | None = None
    """How many memories were made, gone or changed between the same moments on the other line; null where a moment
    is a position, `as_of` or `known` is told, or it took too long."""
    hint: str | None
    """How many those are on each line, where they are not the same; or that the owner is unknown."""


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
