"""What is known, over a real store: assessments, maps and trees of associations, on both time lines."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.api.services.knowing import Knower
from engramlog_server.events.errors import NotFound
from tests.acceptance.helpers.store import Store, day
from tests.given.events import Told, created, deleted, linked, mentioned, negated, purged, restored
from tests.given.views import fact, potter

LATER = "2100-01-01T00:00:00Z"


def known(store: Store, *more: Told, on: float | None = None) -> str:
    """An owner who knows what `potter` tells, since yesterday unless told, and more."""
    owner = store.owner()
    store.tell(owner, *potter(store.yesterday if on is None else on), *more)
    return owner


# --- assessments and maps on both time lines


def test_an_assessment_is_of_what_was_known_then(store: Store, knower: Knower) -> None:
    owner = store.owner()
    first = store.tell(owner, created("I drink coffee", "a", 0, confidence=0.8))
    store.tell(owner, created("coffee at noon", "b", 10, confidence=0.4), negated("a", 20, resolution="latest_wins"))
    then = knower.assess(owner, "coffee", as_of=first)
    assert ([one["id"] for one in then["evidence"]], then["position"]) == (["a"], first)
    assert then["score"] == pytest.approx(0.35 * 0.8 + 0.25 * 0.1 + 0.2 + 0.2 * 0.3)
    assert knower.assess(owner, "coffee", as_of=day(15))["stats"]["memories"] == 2
    assert [one["id"] for one in knower.assess(owner, "coffee", at=day(40))["evidence"]] == ["b"]
    assert knower.assess(owner, "coffee", at=day(40))["stats"]["mean_recency"] == 0.5
    assert knower.assess(owner, "coffee", as_of=first, at=day(60))["stats"]["mean_recency"] == 0.25
    assert knower.assess(owner, "coffee", as_of=day(-1))["confidence"] == "none"


def test_what_is_purged_today_is_no_evidence_at_any_time(store: Store, knower: Knower) -> None:
    owner = store.owner()
    known = store.tell(owner, created("I drink coffee", "a"))
    store.tell(owner, deleted("a", 1), purged("a", 31))
    for asked in ({"as_of": known}, {"as_of": day(0.5)}, {}):
        assert knower.assess(owner, "coffee", **asked)["confidence"] == "none"
        assert knower.map(owner, "coffee", mode="debug", **asked)["nodes"] == []


def test_a_map_is_of_what_was_known_then(store: Store, knower: Knower) -> None:
    owner = known(store, on=0)
    store.tell(owner, negated("clay", 5, resolution="latest_wins"))

    def shown(**asked: Any) -> list[str]:
        return [node["id"] for node in knower.map(owner, "kiln", **asked)["nodes"]]

    assert shown(as_of=day(1)) == ["kiln", "clay", "fair"]
    assert shown(at=day(6)) == ["kiln"]
    assert shown(at=day(6), mode="review") == ["kiln", "clay", "fair"]
    assert shown(as_of=day(1), depth=1) == ["kiln", "clay"]
    assert shown(as_of=day(1), limit=1) == ["kiln"]
    assert shown(as_of=day(1), least=0.91) == ["kiln"]


def test_answers_tell_what_was_asked_and_at_which_position(store: Store, knower: Knower) -> None:
    owner = known(store)
    position = store.tell(owner, mentioned("kiln", store.yesterday))
    for answer in (
        knower.assess(owner, "kiln", at=LATER),
        knower.map(owner, "kiln", at=LATER),
        knower.associations(owner, "kiln", at=LATER),
    ):
        assert {name: answer[name] for name in ("owner", "as_of", "at", "position")} == {
            "owner": owner,
            "as_of": None,
            "at": LATER,
            "position": position,
        }


def test_an_owner_nobody_knows_is_answered(knower: Knower) -> None:
    assert knower.assess("nobody-ever", "coffee")["confidence"] == "none"
    assert knower.map("nobody-ever", "coffee")["nodes"] == []
    with pytest.raises(NotFound, match="has no memory coffee"):
        knower.associations("nobody-ever", "coffee")


def test_what_a_quarantined_owner_is_asked_says_so(store: Store, knower: Knower) -> None:
    owner = known(store)
    stuck = store.poison(owner)
    for answer in (knower.assess(owner, "kiln"), knower.map(owner, "kiln"), knower.associations(owner, "kiln")):
        assert answer["quarantined"]["position"] == stuck
    store.operator.dead_discard(owner, stuck, "a test")


# --- the tree of associations


def branches(answer: dict[str, Any]) -> dict[str, Any]:
    """The tree by ids."""
    return {one["id"]: branches(one) for one in answer["associations"]}


@pytest.mark.parametrize("mode", ["normal", "review", "debug"])
def test_neither_secrets_nor_deleted_memories_are_in_a_tree_nor_what_lies_behind(
    store: Store, knower: Knower, mode: str
) -> None:
    gone = known(store, deleted("clay", 1), on=0)
    hidden = store.owner()
    store.tell(
        hidden,
        created("The kiln broke", "kiln"),
        created("the PIN of my card is 4821", "clay"),
        created("A missed fair", "fair"),
        linked("kiln", "clay", 0, 0.9),
        linked("clay", "fair", 0, 0.9),
    )
    for owner in (gone, hidden):
        answer = knower.associations(owner, "kiln", depth=4, mode=mode, at=day(2))
        assert (answer["associations"], answer["mode"]) == ([], mode)
        assert knower.associations(owner, "clay", depth=4, mode=mode, at=day(2))["associations"] == []
    assert "4821" not in str(knower.associations(hidden, "clay", mode=mode, at=day(2)))


def test_normal_mode_leaves_out_of_a_tree_what_it_withholds(store: Store, knower: Knower) -> None:
    owner = known(store, negated("clay", 1, resolution="latest_wins"), on=0)
    assert branches(knower.associations(owner, "kiln", depth=2, mode="normal", at=day(2))) == {}
    assert branches(knower.associations(owner, "kiln", depth=2, at=day(2))) == {"clay": {"fair": {}}}


def test_a_deletion_takes_a_memorys_backing_along_and_a_restoration_brings_it_back(
    store: Store, knower: Knower
) -> None:
    owner = known(store, fact("kiln", "fires", "clay", "kiln"), on=0)
    assert len(knower.associations(owner, "kiln", at=day(9))["triples"]) == 1
    store.tell(owner, deleted("kiln", 1))
    assert knower.associations(owner, "kiln", mode="debug", at=day(9))["triples"] == []
    store.tell(owner, restored("kiln", 2))
    assert len(knower.associations(owner, "kiln", at=day(9))["triples"]) == 1
    assert set(branches(knower.associations(owner, "kiln", at=day(9)))) == {"clay"}
