"""What a person answers to what waits for him, and what that came to, in one word and in plain ones. Pure.

Accepted, he says it himself; edited, in his words; rejected, nothing is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from engramlog_server.events.catalogue import (
    EventData,
    MemoriesLinked,
    MemoryCreated,
    MemoryDeleted,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
    ReviewSettled,
    ValueRejected,
)
from engramlog_server.projections.decide.commands import readmission
from engramlog_server.projections.memory.kind import created, suggested_kind
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.shapes import Change

Verdict = Literal["accepted", "rejected"]
CHANGES: dict[type, str] = {
    MemoryNegated: "negation",
    MemoryRevised: "revision",
    MemoryMerged: "merge",
    MemoryDeleted: "deletion",
    MemoryMentioned: "reaffirmation",
    MemoryCreated: "readmission",
}
"""What may wait -> what it is called."""
PROPOSAL = "proposal"


def would_say(data: EventData) -> str | None:
    """What would be said then; None where nothing would."""
    if isinstance(data, MemoryNegated):
        return data.correction
    if isinstance(data, MemoryRevised):
        return data.content
    if isinstance(data, MemoryCreated):
        return data.content
    return data.summary if isinstance(data, MemoryMerged) else None


def accepted(
    data: EventData, waiting: str, on: Sequence[str], brings: Memory | None, reason: str
) -> tuple[EventData, ...]:
    """What a person says who accepts it: that it waits no longer, the same, and what it brings (a proposal, perhaps).

    `on`: the memories on which it waits.
    """
    if isinstance(data, MemoryMentioned):
        return (*_settled(on, waiting, "accepted", reason), MemoryMentioned(memory_id=data.memory_id))
    is_proposal = brings is not None and not brings.trust and brings.deleted_at is None
    brought = (MemoryMentioned(memory_id=brings.id),) if brings is not None and is_proposal else ()
    return (*_settled(on, waiting, "accepted", reason), data, *brought)


def accepted_again(
    data: MemoryCreated,
    waiting: str,
    values: Iterable[bytes],
    reason: str,
    *,
    memory_id: str,
    content: str | None = None,
) -> tuple[EventData, ...]:
    """What a person says who accepts what he said again after it was rejected; in other words, `content`, it is another value.

    `memory_id`: one that no memory has. Nothing else is taken over of the event that waited: anybody may have sent that.
    """
    told = _settled((data.memory_id,), waiting, "accepted", reason)
    says = data.content if content is None else content
    again = created(memory_id, says, kind=data.kind, category=data.category, speaker=data.speaker)
    if says != data.content:
        return (*told, again)
    return (*told, readmission(None, (one.hex() for one in values), reason), again)


def edited(memory: Memory, content: str, waiting: str, on: Sequence[str], reason: str) -> tuple[EventData, ...]:
    """What a person says who puts it in his own words: what he negated holds again in these; the same words he says himself."""
    settled = _settled(on, waiting, "accepted", reason)
    takes_back = (bool(on) and memory.is_negated) or content == memory.content
    again = (MemoryMentioned(memory_id=memory.id),) if takes_back else ()
    words = () if content == memory.content else (MemoryRevised(memory_id=memory.id, content=content),)
    return (*settled, *again, *words)


def rejected(waiting: str, on: Sequence[str], reason: str) -> tuple[EventData, ...]:
    """What a person says who will not have it."""
    return tuple(_settled(on, waiting, "rejected", reason))


def is_rejection(first: EventData) -> bool:
    """Whether an answer that begins so was a rejection."""
    return isinstance(first, MemoryDeleted) or (isinstance(first, ReviewSettled) and first.verdict == "rejected")


def _settled(on: Sequence[str], waiting: str, verdict: Verdict, reason: str) -> list[Any]:
    return [ReviewSettled(memory_id=one, waiting=waiting, verdict=verdict, reason=reason) for one in on]


SAID = {
    "linked": "linked: {ids}; the suggestion is gone",
    "merged": "merged: {ids} into {into}",
    "counts": "counts from now on: {ids}",
    "holds_again": "holds again: {ids}",
    "negated": "no longer holds: {ids}",
    "revised": "says it in the new words: {ids}",
    "deleted": "deleted: {ids}",
    "kept_again": "kept again: {ids}",
    "stays": "left as it is: {ids}",
    "refused": "deleted, and what it says becomes no memory again: {ids}",
    "dismissed": "the suggestion is gone, and nothing else changed",
    "nothing": "nothing changed",
}
"""What was done -> how it is said."""
WITHOUT_EFFECT = frozenset({"ignored", "wait"})
"""Decisions of the fold by which an event did nothing."""


class AnswerDone(NamedTuple):
    """What was done: a name of `SAID`, and the sentence."""

    name: str
    said: str


def effective(told: Sequence[EventData], positions: Sequence[str], changes: Iterable[Change]) -> list[EventData]:
    """Those of the events of an answer that did something, by the fold's decisions; one that it told nothing of counts.

    `positions`: where each of them stands. Nothing is told of what is parked: nobody knows yet.
    """
    decided: dict[str, set[str]] = {}
    for one in changes:
        decided.setdefault(one["position"], set()).add(one["decision"])
    paired = ((one, decided.get(position)) for one, position in zip(told, positions, strict=True))
    return [one for one, found in paired if found is None or found - WITHOUT_EFFECT]


def done_by(told: Sequence[EventData], verdict: str) -> AnswerDone:
    """What the events of an answer do; nothing where none of them counted."""
    if not told:
        return _done("nothing")
    if verdict == "rejected":
        return _rejected(told)
    return next((done for one in told if (done := _changed(one)) is not None), None) or _said(told)


def _changed(one: EventData) -> AnswerDone | None:
    if isinstance(one, MemoriesLinked):
        return _done("linked", one.a, one.b)
    if isinstance(one, MemoryMerged):
        return _done("merged", *one.sources, into=one.into)
    if isinstance(one, MemoryNegated | MemoryRevised | MemoryCreated):
        names = {MemoryNegated: "negated", MemoryRevised: "revised", MemoryCreated: "kept_again"}
        return _done(names[type(one)], one.memory_id)
    if isinstance(one, MemoryDeleted):
        return _done("deleted" if suggested_kind(one.memory_id) is None else "dismissed", one.memory_id)
    return None


def _said(told: Sequence[EventData]) -> AnswerDone:
    said = [one.memory_id for one in told if isinstance(one, MemoryMentioned)]
    waited = any(isinstance(one, ReviewSettled) for one in told)
    return _done("holds_again" if waited else "counts", *said) if said else _done("nothing")


def _rejected(told: Sequence[EventData]) -> AnswerDone:
    stays = [one.memory_id for one in told if isinstance(one, ReviewSettled)]
    if stays:
        return _done("stays", *stays)
    gone = [one.memory_id for one in told if isinstance(one, MemoryDeleted)]
    refused = any(isinstance(one, ValueRejected) for one in told)
    if any(suggested_kind(one) is not None for one in gone):
        return _done("dismissed", *gone)
    return _done("refused" if refused else "deleted", *gone)


def _done(name: str, *ids: str, into: str = "") -> AnswerDone:
    return AnswerDone(name, SAID[name].format(ids=", ".join(dict.fromkeys(ids)), into=into))
