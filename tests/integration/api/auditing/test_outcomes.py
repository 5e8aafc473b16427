"""What became of an answer: outcomes that were reported for its turn, told beside what stood in its prompt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engramlog_server.api.services.answers import MOST_OUTCOMES
from engramlog_server.events.envelope import decode
from engramlog_server.events.errors import InputError
from tests.acceptance.helpers.store import Store
from tests.given.events import created, reinforced
from tests.given.said import said
from tests.integration.api.auditing.test_answered import answer, asked_and_answered, known


def reported(store: Store, owner: str, outcome: str = "used", **told: Any) -> dict[str, Any]:
    found: dict[str, Any] = store.app.living.reinforce(owner, "coffee", outcome=outcome, **told)
    return found


def outcomes(store: Store, owner: str, turn: str = "t1", **times: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(store, owner, turn, **times)["outcomes"]
    return found


def test_an_outcome_for_a_turn_is_told_with_what_was_injected_for_it(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    done = reported(store, owner, "task_success", turn_id="t1", actor="assistant")
    assert done["turn_id"] == "t1"
    (one,) = outcomes(store, owner)
    assert one == {
        "position": done["position"],
        "at": one["at"],
        "memory": "coffee",
        "outcome": "task_success",
        "from_memory": None,
        "actor": "assistant",
        "principal": "local",
        "linked_by": "turn_id",
    }
    assert outcomes(store, owner, "t2") == [one]


def test_one_for_its_reply_counts_and_one_for_another_turn_or_none_does_not(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    known(store, said("t9", "And at noon?"), owner=owner)
    reported(store, owner, turn_id="t9")
    reported(store, owner)
    first = reported(store, owner, "task_failure", turn_id="t2")
    assert [one["position"] for one in outcomes(store, owner)] == [first["position"]]
    assert [one["outcome"] for one in outcomes(store, owner, "t9")] == ["used"]


def test_what_a_job_read_out_of_the_reply_is_linked_by_its_cause(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    log = store.app.log
    held = log.read(store.app.reader.partition_of(owner), 0, 100_000)
    told = [decode(one.kind, one.body) for one in held if one.owner == owner]
    reply = next(one.event_id for one in told if getattr(one.data, "turn_id", "") == "t2")
    store.tell(owner, replace(reinforced("coffee", store.yesterday + 0.5), extra={"causation_id": reply}))
    assert [(one["outcome"], one["linked_by"]) for one in outcomes(store, owner)] == [("used", "cause")]


def test_of_the_past_only_what_was_reported_by_then_is_told(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    then = reported(store, owner, turn_id="t1")["position"]
    reported(store, owner, "task_failure", turn_id="t1")
    assert [one["outcome"] for one in outcomes(store, owner)] == ["used", "task_failure"]
    assert [one["outcome"] for one in outcomes(store, owner, known=then)] == ["used"]


def test_of_many_the_newest_are_told_and_the_others_counted(store: Store) -> None:
    owner = known(store, created("I drink coffee", "coffee"), said("t1", "What do I drink?"))
    many = MOST_OUTCOMES + 3
    store.tell(owner, *(reinforced("coffee", store.yesterday + one / many, turn_id="t1") for one in range(many)))
    whole = answer(store, owner, "t1")
    assert (len(whole["outcomes"]), whole["outcomes_left_out"]) == (MOST_OUTCOMES, 3)
    assert whole["outcomes"] == sorted(whole["outcomes"], key=lambda one: int(one["position"].partition(":")[2]))


def test_one_that_changed_nothing_was_reported_all_the_same(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    store.tell(owner, reinforced("unknown", store.yesterday + 0.5, turn_id="t1"))
    assert [one["memory"] for one in outcomes(store, owner)] == ["unknown"]


def test_a_turn_that_cannot_be_is_refused_and_nothing_is_written(store: Store) -> None:
    owner, _ = asked_and_answered(store)
    head = store.head(owner)
    with pytest.raises(InputError, match="turn_id"):
        reported(store, owner, turn_id="two words")
    assert store.head(owner) == head
