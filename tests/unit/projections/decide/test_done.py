"""What a person's answer came to is said as what was done, and not as the events that do it."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.events.catalogue import (
    EventData,
    MemoriesLinked,
    MemoryDeleted,
    MemoryMentioned,
    MemoryMerged,
    MemoryNegated,
    MemoryRevised,
    ReviewSettled,
)
from engramlog_server.projections.decide.answers import done_by, effective
from engramlog_server.projections.decide.commands import rejection
from tests.given.events import created
from tests.rows import each_row

ITEM = "018f3c1e-7b2a-7000-8000-000000000003"
SETTLED = ReviewSettled(memory_id="m0", waiting=ITEM, verdict="accepted", reason="")
SAYS, GONE = MemoryMentioned(memory_id="suggestion-link.1"), MemoryDeleted(memory_id="suggestion-link.1")


LINKED = MemoriesLinked(a="m0", b="m1", weight=0.7, link="semantic")


@each_row(
    ("told", "verdict", "name", "said"),
    [
        ((SAYS, LINKED, GONE), "accepted", "linked", "linked: m0, m1; the suggestion is gone"),
        ((SAYS, MemoryMerged(sources=("m0", "m1"), into="m2", summary="x"), GONE), "accepted", "merged", "merged: m0, m1 into m2"),
        ((MemoryMentioned(memory_id="m0"),), "accepted", "counts", "counts from now on: m0"),
        ((SETTLED, MemoryMentioned(memory_id="m0")), "accepted", "holds_again", "holds again: m0"),
        ((SETTLED, MemoryNegated(memory_id="m0", resolution="latest_wins")), "accepted", "negated", "no longer holds: m0"),
        ((SETTLED, MemoryRevised(memory_id="m0", content="x")), "edited", "revised", "says it in the new words: m0"),
        ((SETTLED, MemoryDeleted(memory_id="m0")), "accepted", "deleted", "deleted: m0"),
        ((SETTLED, created("x", "m3").data), "accepted", "kept_again", "kept again: m3"),
        ((SETTLED,), "rejected", "stays", "left as it is: m0"),
        ((MemoryDeleted(memory_id="m0"),), "rejected", "deleted", "deleted: m0"),
        ((MemoryDeleted(memory_id="m0"), rejection("m0", ("ab" * 16,), "")), "rejected", "refused",
         "deleted, and what it says becomes no memory again: m0"),
        ((GONE,), "rejected", "dismissed", "the suggestion is gone, and nothing else changed"),
        ((SAYS, GONE), "accepted", "dismissed", "the suggestion is gone, and nothing else changed"),
        ((), "accepted", "nothing", "nothing changed"),
    ],
)  # fmt: skip
def test_what_was_done_is_said(told: tuple[EventData, ...], verdict: str, name: str, said: str) -> None:
    assert done_by(told, verdict) == (name, said)


def change(position: str, decision: str) -> Any:
    return {"position": position, "decision": decision}


@each_row(
    ("changes", "kept"),
    [
        pytest.param([("0:1", "reinforce"), ("0:2", "ignored"), ("0:2", "ignored"), ("0:3", "delete")], (SAYS, GONE), id="ignored"),
        pytest.param([("0:1", "reinforce"), ("0:2", "wait"), ("0:2", "ignored"), ("0:3", "delete")], (SAYS, GONE), id="it waits"),
        pytest.param([("0:2", "link"), ("0:2", "ignored"), ("0:3", "ignored")], (SAYS, LINKED), id="one counts"),
        pytest.param([], (SAYS, LINKED, GONE), id="parked"),
    ],
)  # fmt: skip
def test_an_event_that_did_nothing_is_not_told(changes: list[tuple[str, str]], kept: tuple[EventData, ...]) -> None:
    found = effective((SAYS, LINKED, GONE), ("0:1", "0:2", "0:3"), [change(*one) for one in changes])
    assert tuple(found) == kept
