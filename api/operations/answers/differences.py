"""Shapes of what differs: between two readings of an owner, two moments, or two memories under one ranking."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, LinesTold, Placed, TimesTold, exampled

EXAMPLE_SIDE: Example = {
    "weight": 1.3,
    "level": "full",
    "status": "live",
    "trust": "asserted",
    "is_negated": False,
    "mention_count": 1,
    "shown": True,
    "reason": None,
}
EXAMPLE_DIFFER: Example = {
    "id": "coffee",
    "before": EXAMPLE_SIDE,
    "after": EXAMPLE_SIDE | {"is_negated": True, "shown": False, "reason": "negated", "weight": 0.39},
    "fields": [],
}
EXAMPLE_MOVED: Example = {"id": "coffee", "before": 1, "after": None, "passed": None}
EXAMPLE_QUESTION: Example = {
    "query": "what does alice drink?",
    "before": ["coffee", "tea"],
    "after": ["tea"],
    "moved": [EXAMPLE_MOVED, {"id": "tea", "before": 2, "after": 1, "passed": "coffee"}],
}
EXAMPLE_CAUSE: Example = {
    "position": "3:131",
    "event_id": "018f3c1e-7b2a-7000-8000-000000000003",
    "event": "MemoryNegated",
    "memory": "coffee",
    "time": "2026-03-02T08:00:00Z",
    "recorded_at": "2026-11-22T09:30:00Z",
    "late_by": 22901400.0,
    "decision": "negate",
    "reason": "said so",
    "actor": "user",
    "principal": "local",
    "correlation_id": None,
    "said_reason": "the doctor said so",
    "because": None,
    "side": "after",
}
EXAMPLE_MEMORY: Example = EXAMPLE_DIFFER | {
    "kind": "changed",
    "memory": "I like coffee",
    "was": None,
    "deleted_since": False,
    "cause": "events",
    "causes": [EXAMPLE_CAUSE],
    "more_causes": 0,
    "ranks": [{"question": 0, "before": 1, "after": None}],
}
EXAMPLE_BY: Example = {"principal": "local", "actor": "user", "events": 1}
EXAMPLE_SIDE_TOLD: Example = {
    "asked": "2026-03-03",
    "instant": "2026-03-03T23:59:59.999999Z",
    "position": "3:128",
    "events": 12,
}
EXAMPLE_DIFF: Example = {
    "owner": "alice",
    "line": "known",
    "mode": "normal",
    "before": EXAMPLE_SIDE_TOLD,
    "after": {"asked": None, "instant": "2026-11-22T09:31:00Z", "position": "3:131", "events": 13},
    "counts": {
        "made": 0,
        "gone": 0,
        "changed": 1,
        "crossed": 0,
        "by_time": 4,
        "by_access": 0,
        "by_owner": 0,
        "by_others": 0,
    },
    "memories": [EXAMPLE_MEMORY],
    "total": 1,
    "offset": 0,
    "owner_changes": {"profile": None, "parameters": {}, "causes": [], "more_causes": 0},
    "by_principal": [EXAMPLE_BY],
    "questions": [EXAMPLE_QUESTION],
    "on_other_line": 1,
    "hint": None,
    "as_of": None,
    "known": None,
    "position": "3:131",
    "behind": 0,
}
EXAMPLE_ABOVE_SIDE: Example = {
    "id": "tea",
    "memory": "I drink tea every morning",
    "rank": 1,
    "score": 3.75,
    "weight": 1.3,
    "holds": ["drink", "morning"],
    "lacks": [],
    "absent": None,
}
EXAMPLE_ABOVE: Example = {
    "owner": "alice",
    "query": "what does she drink in the morning?",
    "order": "above",
    "tied": False,
    "sentence": "tea (rank 1) stands above water (rank 2), by 1.05 of score: its own words match the question better (text, 0.90).",
    "language": "en",
    "first": EXAMPLE_ABOVE_SIDE,
    "second": EXAMPLE_ABOVE_SIDE
    | {"id": "water", "memory": "I drink water", "rank": 2, "score": 2.7, "holds": ["drink"], "lacks": ["morning"]},
    "difference": 1.05,
    "terms": [{"term": "text", "first": 2.8, "second": 1.9, "difference": 0.9}],
    "rules": [],
    "mode": "normal",
    "ranking": "conversation",
    "search_mode": "hybrid",
    "meaning": None,
    "as_of": None,
    "known": None,
    "at": None,
    "position": "3:131",
    "behind": 0,
}


class SideStanding(BaseModel):
    """Where a memory stands on one of two sides."""

    model_config = exampled(EXAMPLE_SIDE)

    weight: float = Field(description="Unclipped, by the owner's law on that side.")
    level: str
    status: str
    trust: str
    is_negated: bool
    mention_count: int
    shown: bool = Field(description="Whether the mode shows it where nothing is asked.")
    reason: str | None = Field(description="Why the mode withholds it; null where it is shown.")


class SidesDiffer(BaseModel):
    """A memory that stands otherwise on two sides, or on one alone."""

    model_config = exampled(EXAMPLE_DIFFER)

    id: str
    before: SideStanding | None = Field(description="Null where that side has no such memory.")
    after: SideStanding | None = Field(description="Null where that side has no such memory.")
    fields: list[str] = Field(description="What it says that differs, by name.")


class RankMoved(BaseModel):
    """A result that stands elsewhere, came or went."""

    model_config = exampled(EXAMPLE_MOVED)

    id: str
    before: int | None = Field(description="Its rank, 1 for the first; null where it is not among the results.")
    after: int | None
    passed: str | None = Field(
        description="Of one that fell what newly stands directly above it; of one that rose what stood there and is no longer"
        " above it. Null where that is no other than before, or one side lacks it."
    )


class QuestionMoved(BaseModel):
    """One question's results on two sides."""

    model_config = exampled(EXAMPLE_QUESTION)

    query: str
    before: list[str] = Field(description="Ids, the best first.")
    after: list[str]
    moved: list[RankMoved]


class EventCause(BaseModel):
    """An event that is part of one side and not of the other, as the change log has it."""

    model_config = exampled(EXAMPLE_CAUSE)

    position: str
    event_id: str
    event: str
    memory: str | None = Field(description="Which memory it was about; null where it was about the owner.")
    time: str = Field(description="When it happened, as its producer says.")
    recorded_at: str | None = Field(description="When the log took it in; null where nobody noted that.")
    late_by: float | None = Field(description="Seconds, where it was recorded more than five minutes after `time`.")
    decision: str = Field(description="What it did; `access` where it only showed the memory.")
    reason: str = Field(description="The fold's own words.")
    actor: str | None
    principal: str | None = Field(description="Who brought it; null where nobody noted that.")
    correlation_id: str | None
    said_reason: str | None = Field(description="Why, in its sender's words, as far as they may be told today.")
    because: str | None = Field(description="Why the memory is kept, as a creation or a revision tells.")
    side: str = Field(description="`after` or `before`: the side that it is part of.")


class RankOf(BaseModel):
    """A memory's rank among the results of one question on the two sides."""

    model_config = exampled({"question": 0, "before": 1, "after": None})

    question: int = Field(description="Which of `questions`, from 0.")
    before: int | None
    after: int | None


class MemoryDiffers(SidesDiffer):
    """A memory that differs between two moments, and by what."""

    model_config = exampled(EXAMPLE_MEMORY)

    kind: str = Field(
        description="`made`, `gone` (absent, deleted or purged by the end), `changed` (by events, or in what it says), `crossed`"
        " (shown or not, level, reason or rank, and no event was about it) or `weight` (nothing else moved)."
    )
    memory: str | None = Field(
        description="What it says on the later side that has it; null of what is purged, and but in debug mode of what is"
        " deleted on both."
    )
    was: str | None = Field(description="What it said before, where that is another text.")
    deleted_since: bool = Field(description="Whether somebody deleted it by today, though the later side has it.")
    cause: str = Field(
        description="`events`; `access` (it was shown); `owner` (another law, other parameters, something set aside or rejected);"
        " `others` (what happened to other memories); or `time`."
    )
    causes: list[EventCause] = Field(description="The newest of its events, the newest first.")
    more_causes: int = Field(description="How many more there are.")
    ranks: list[RankOf] = Field(description="Of the questions among whose results it stands elsewhere.")


class FromTo(BaseModel):
    """A value on the two sides."""

    before: Any
    after: Any


class OwnerDiffers(BaseModel):
    """What differs of the owner itself."""

    profile: FromTo | None = Field(description="The law; null where it is the same.")
    parameters: dict[str, FromTo] = Field(description="Those that differ, by name.")


class OwnerChanged(OwnerDiffers):
    """And the events about the owner that are part of one side alone."""

    causes: list[EventCause]
    more_causes: int


class ByWhom(BaseModel):
    """How many events of one principal and actor are the causes."""

    model_config = exampled(EXAMPLE_BY)

    principal: str | None
    actor: str | None
    events: int


class SideTold(BaseModel):
    """One of the two sides."""

    model_config = exampled(EXAMPLE_SIDE_TOLD)

    asked: str | None = Field(description="The moment as it was asked for; null is now.")
    instant: str = Field(description="At which its weights are computed.")
    position: str
    events: int = Field(description="How many of the owner's events it is made of.")


class DiffCounts(BaseModel):
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
    """What changed between two moments, by whom and why."""

    model_config = exampled(EXAMPLE_DIFF)

    owner: str
    line: str = Field(description="`known` or `happened`: the time line that the moments stand on.")
    mode: str
    before: SideTold
    after: SideTold
    counts: DiffCounts
    memories: list[MemoryDiffers] = Field(description="A page of them: made, gone, changed, crossed, weight.")
    total: int = Field(description="How many are listed in all.")
    offset: int
    owner_changes: OwnerChanged
    by_principal: list[ByWhom] = Field(
        description="Who brought the events about memories that differ and about the owner, the most events first; 100 at most."
    )
    questions: list[QuestionMoved]
    on_other_line: int | None = Field(
        default=None,
        description="How many memories were made, gone or changed between the same moments on the other line; null where a moment"
        " is a position, `as_of` or `known` is told, or it took too long.",
    )
    hint: str | None = Field(
        description="How many those are on each line, where they are not the same; or that the owner is unknown."
    )


class TermBeside(BaseModel):
    """One part of both scores."""

    model_config = exampled({"term": "text", "first": 2.8, "second": 1.9, "difference": 0.9})

    term: str = Field(description="Its name, as `explain.score` of a search has it.")
    first: float | None = Field(description="What it adds to the first one's score; null where that is not ranked.")
    second: float | None
    difference: float | None = Field(description="`first` less `second`; null where one of the two is not ranked.")


class Absent(BaseModel):
    """Why a memory is not among the results."""

    model_config = exampled({"why": "withheld", "reason": "negated", "shown_by": "review", "filters": []})

    why: str = Field(
        description="`withheld` by the mode, `filtered`, `no_match`, or `too_weak`: it matches, and is not among the best that are"
        " ranked at all."
    )
    reason: str | None = Field(description="Why the mode withholds it.")
    shown_by: str | None = Field(description="The mode, or the command, that shows it.")
    filters: list[str] = Field(description="Names of the filters that it does not pass.")


class AboveSide(BaseModel):
    """One of two memories under a question's ranking."""

    model_config = exampled(EXAMPLE_ABOVE_SIDE)

    id: str
    memory: str | None
    rank: int | None = Field(description="1 for the first, of all results; null where it is none.")
    score: float | None
    weight: float
    holds: list[str] = Field(description="Words of the question that it holds, as search cuts them.")
    lacks: list[str]
    absent: Absent | None = Field(description="Why it is no result; null where it is one.")


class RuleTold(BaseModel):
    """A rule that acts beside what matches."""

    model_config = exampled({"rule": "current_first", "of": "tea", "others": ["coffee"]})

    rule: str = Field(
        description="`current_first` (it replaced `others`, so it stands above them), "
        "`corrected` (by `others`; the question asks for what still holds of it), `for_a_time` (until then it stands"
        " above `others`, or it holds again and they are over), `associated` (activation reached it)."
    )
    of: str
    others: list[str]


class Above(TimesTold, Placed):
    """Why one memory stands above another for a question, or below it."""

    model_config = exampled(EXAMPLE_ABOVE)

    owner: str
    query: str
    order: str = Field(
        description="`above`, `below`, or `neither` where neither is a result: of the first to the second."
    )
    tied: bool = Field(description="Whether both scores are equal: then what was made later stands above.")
    sentence: str
    language: str = Field(description="Of the sentence: `en` or `zh`.")
    first: AboveSide
    second: AboveSide
    difference: float | None = Field(description="Of the scores; the terms' differences add up to it.")
    terms: list[TermBeside] = Field(description="The most decisive first.")
    rules: list[RuleTold]
    mode: str
    ranking: str
    search_mode: str
    meaning: str | None = Field(description="Why meaning was not compared, where it was asked for and failed.")
