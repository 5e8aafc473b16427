"""Shapes of an owner's time lines."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.operations.answers.log import LinesTold, Placed, exampled

_HAPPENED = {
    "since": "2023-05-08T13:56:00Z",
    "until": "2026-11-22T09:30:00Z",
    "seconds": 27956508.00000025,
    "events": 131,
    "counts": [3, 0, 120, 8],
    "groups": None,
}
_RECORDED = {
    "since": "2026-11-22T09:29:20Z",
    "until": "2026-11-22T09:30:00.120000Z",
    "seconds": 10.03000025,
    "events": 131,
    "counts": [100, 20, 8, 3],
    "groups": None,
}


class HappenedEnds(BaseModel):
    """From when to when things happened, as their producers say."""

    first: str | None = Field(description="Null where there is no event.")
    last: str | None = Field(description="The latest of all, though it lies ahead.")
    ahead: str | None = Field(
        description="The same, where it lies in the future of what is asked about: later than now, or than `known`; else null."
    )


class RecordedEnds(BaseModel):
    """From when to when the log took them in."""

    first: str | None = Field(description="Null where there is no event.")
    last: str | None


class GroupCounts(BaseModel):
    """How many events of each kind lie in each part."""

    made: list[int] = Field(description="Memories and facts that are new.")
    changed: list[int] = Field(description="Whatever else alters what is there, or how it is read.")
    ended: list[int] = Field(
        description="Negated, deleted, purged, retracted, rejected, or of a source that was set aside."
    )
    seen: list[int] = Field(description="Shown, or revealed.")
    talk: list[int] = Field(description="Turns, tool results, and turns that were read for what they say.")


class LineBuckets(BaseModel):
    """One line in equal parts. Part number i, from 0, begins `i * seconds` after `since`; the last one ends with `until`."""

    since: str | None = Field(description="Null where no event lies there, and nobody told an end.")
    until: str | None
    seconds: float = Field(description="How long each part is.")
    events: int = Field(description="How many lie there: the sum of `counts`.")
    counts: list[int] = Field(description="As many as there are parts.")
    groups: GroupCounts | None = Field(description="Null unless asked for.")


class TimeBuckets(BaseModel):
    """Both lines in parts."""

    count: int = Field(description="How many parts each has.")
    happened: LineBuckets
    recorded: LineBuckets


class OwnerTimes(LinesTold, Placed):
    """Both time lines of an owner at a glance."""

    model_config = exampled(
        {
            "owner": "alice",
            "happened": {"first": "2023-05-08T13:56:00Z", "last": "2026-11-22T09:30:00Z", "ahead": None},
            "recorded": {"first": "2026-11-22T09:29:20Z", "last": "2026-11-22T09:30:00.120000Z"},
            "events": 131,
            "late": 123,
            "buckets": {"count": 4, "happened": _HAPPENED, "recorded": _RECORDED},
            "since": None,
            "until": None,
            "recorded_since": None,
            "recorded_until": None,
            "hint": None,
            "as_of": None,
            "known": None,
            "position": "3:131",
            "behind": 0,
        }
    )

    owner: str
    happened: HappenedEnds
    recorded: RecordedEnds
    events: int = Field(description="Folded events that count, whatever the spans.")
    late: int = Field(description="Of these, how many were recorded more than five minutes after they happened.")
    buckets: TimeBuckets = Field(
        description="Of the events that lie in every span that is told; what tells no recorded time is on no recorded line."
    )
    since: str | None
    until: str | None
    recorded_since: str | None
    recorded_until: str | None
    hint: str | None = Field(description="Where nothing of the owner is recorded; else null.")
