"""What a person's answer to what waits came to, in one word and in plain ones. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
from engramlog_server.projections.fold.changelog import Change
from engramlog_server.projections.memory.suggestion import suggested_kind

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
