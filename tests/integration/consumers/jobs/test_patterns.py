"""Patterns in a real store: made by name, looked at, accepted or not, and gone with what they were made of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engramlog.answers import Detail
from engramlog_server.events.catalogue import FactAsserted
from tests.acceptance.helpers.store import Store, embedded_store
from tests.given.events import Told, created
from tests.given.shaped import checked

DAYS = (0.0, 3.0, 9.0)
JOB = ("abstract",)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path: Path = tmp_path_factory.mktemp("patterns")
    with embedded_store(path) as store:
        yield store


@pytest.fixture
def store(opened: Store) -> Store:
    return opened


def say(store: Store, owner: str, things: tuple[str, ...], subject: str = "Ada", predicate: str = "likes") -> list[str]:
    """One memory a day, yesterday the last, each with the triple that it backs."""
    ids = [f"m{n}" for n in range(len(things))]
    for memory_id, thing, day in zip(ids, things, DAYS, strict=True):
        when = store.yesterday - 10 + day
        text = (
            f"{subject}{predicate}{thing}" if not subject.isascii() else f"{subject} {predicate} {thing}, day {day:g}"
        )
        fact = FactAsserted(subject=subject, predicate=predicate, object=thing, evidence=(memory_id,))
        store.tell(owner, created(text, memory_id, when), Told(fact, when, "judge"))
    return ids


SAME = ("long walks", "long walks", "long walks")
ALIKE = ("a pottery class", "the pottery workshop", "a pottery fair")


def made(store: Store, owner: str) -> str:
    (one,) = store.app.cleaner.clean(owner, jobs=JOB)["decisions"]
    pattern_id: str = one["ids"][0]
    return pattern_id


def shown(store: Store, owner: str, **asking: Any) -> list[str]:
    return [one["id"] for one in store.reader.list(owner, **asking)["memories"]]


@pytest.mark.parametrize(
    ("subject", "predicate", "thing"), [("Ada", "likes", "long walks"), ("用户", "喜欢", "看老电影")]
)
def test_by_name_alone_a_dry_run_tells_it_and_a_run_makes_it_once(
    store: Store, subject: str, predicate: str, thing: str
) -> None:
    owner = store.owner()
    ids = say(store, owner, (thing,) * 3, subject, predicate)
    assert store.app.cleaner.clean(owner, dry_run=True)["decisions"] == []
    foreseen = store.app.cleaner.clean(owner, dry_run=True, jobs=JOB)
    assert shown(store, owner) == list(reversed(ids))
    done = store.app.cleaner.clean(owner, jobs=JOB)
    assert done["decisions"] == foreseen["decisions"]
    assert (done["counts"], done["appended"]) == ({"abstract": 1}, 1)
    assert store.app.cleaner.clean(owner, jobs=JOB)["decisions"] == []
    pattern_id = done["decisions"][0]["ids"][0]
    assert store.reader.search(owner, thing)["results"][0]["id"] in ids
    detail = store.reader.get(owner, pattern_id)
    checked(Detail, detail)
    assert [one["id"] for one in detail["evidence"]] == ids
    assert (detail["trust"], detail["kind"], detail["because"]) == (
        "inferred",
        "pattern",
        "3 memories of 3 days say the same",
    )
    assert [one["id"] for one in store.reader.get(owner, ids[0])["patterns"]] == [pattern_id]


def test_why_and_provenance_lead_to_its_evidence_and_their_events(store: Store) -> None:
    owner = store.owner()
    ids = say(store, owner, SAME)
    pattern_id = made(store, owner)
    nodes = store.reader.provenance(owner, pattern_id)["provenance"]["nodes"]
    assert [(one["relation"], one["id"]) for one in nodes[1:]] == [("summarises", one) for one in ids]
    assert all(one["events"] for one in nodes)
    assert len(store.reader.why(owner, pattern_id)["provenance"]["nodes"]) == 4


def test_it_goes_with_a_piece_that_is_deleted_and_comes_back_with_it(store: Store) -> None:
    owner = store.owner()
    say(store, owner, SAME)
    pattern_id = made(store, owner)
    assert [one["id"] for one in store.delete(owner, "m1")["also"]] == [pattern_id]
    assert pattern_id not in shown(store, owner, mode="review")
    assert store.app.cleaner.clean(owner, jobs=JOB)["decisions"] == []
    store.restore(owner, "m1")
    assert pattern_id in shown(store, owner)


def test_a_proposal_waits_in_the_inbox_and_is_the_persons_own_once_accepted(store: Store) -> None:
    owner = store.owner()
    say(store, owner, ALIKE)
    pattern_id = made(store, owner)
    (item,) = store.app.inbox.page(owner)["items"]
    assert (item["item"], item["kind"], item["memory_id"]) == (pattern_id, "proposal", pattern_id)
    assert pattern_id not in shown(store, owner)
    assert store.reader.get(owner, "m0")["patterns"][0]["memory"] is None  # nobody has looked at it yet
    store.app.inbox.accept(owner, pattern_id)
    assert pattern_id in shown(store, owner, trust="asserted")


def test_no_proposal_is_in_a_block_before_somebody_accepted_it(store: Store) -> None:
    owner = store.owner()
    say(store, owner, ALIKE)
    pattern_id = made(store, owner)

    def block() -> str:
        answer: str = store.app.contexts.context(owner, "Which pottery does Ada like?", trace=False)["block"]
        return answer

    assert "a pottery fair" in block()
    assert "told on 3 days" not in block()
    store.app.inbox.accept(owner, pattern_id)
    assert "told on 3 days" in block()


def test_a_proposal_that_a_person_will_not_have_is_not_made_again(store: Store) -> None:
    owner = store.owner()
    say(store, owner, ALIKE)
    store.app.inbox.reject(owner, made(store, owner))
    store.tell(owner, created("Ada likes a pottery market", "m3", store.yesterday))
    fact = FactAsserted(subject="Ada", predicate="likes", object="a pottery market", evidence=("m3",))
    store.tell(owner, Told(fact, store.yesterday, "judge"))
    assert store.app.cleaner.clean(owner, jobs=JOB)["decisions"] == []
    assert store.app.inbox.page(owner)["items"] == []


def test_a_negated_piece_withholds_it_at_once_and_it_goes_with_the_next_run(store: Store) -> None:
    owner = store.owner()
    say(store, owner, SAME)
    pattern_id = made(store, owner)
    store.writer.negate(owner, "m2", resolution="latest_wins")
    assert pattern_id not in shown(store, owner)
    assert pattern_id not in [one["id"] for one in store.reader.search(owner, "long walks")["results"]]
    assert pattern_id in shown(store, owner, mode="review")
    (gone,) = store.app.cleaner.clean(owner, jobs=JOB)["decisions"]
    assert (gone["action"], gone["ids"]) == ("delete", [pattern_id])
    assert pattern_id not in shown(store, owner, mode="review")


def test_a_replay_without_a_piece_is_without_the_pattern(store: Store) -> None:
    owner = store.owner()
    say(store, owner, SAME)
    pattern_id = made(store, owner)
    position = store.reader.history(owner, "m1")["changes"][0]["position"]
    told = store.replayer.replay(owner, without=[position])
    position_of_pattern = store.reader.history(owner, pattern_id)["changes"][0]["position"]
    assert position_of_pattern in [one["position"] for one in told["struck"]]


def test_at_ten_results_no_concrete_memory_is_lost_under_patterns(store: Store) -> None:
    owner = store.owner()
    for number, thing in enumerate(("kites", "chess", "rowing")):
        for n, day in enumerate(DAYS):
            when, memory_id = store.yesterday - 10 + day, f"{thing}{n}"
            fact = FactAsserted(subject="Ada", predicate="likes", object=thing, evidence=(memory_id,))
            text = f"Ada likes {thing} on sunday {number}{n}"
            store.tell(owner, created(text, memory_id, when), Told(fact, when, "judge"))
    before = [one["id"] for one in store.reader.search(owner, "what does Ada like on sunday?", limit=10)["results"]]
    assert store.app.cleaner.clean(owner, jobs=JOB)["counts"] == {"abstract": 3}
    after = [one["id"] for one in store.reader.search(owner, "what does Ada like on sunday?", limit=10)["results"]]
    assert [one for one in after if not one.startswith("pattern-")] == before
    for thing in ("kites", "chess", "rowing"):
        assert store.reader.search(owner, thing, limit=1)["results"][0]["id"].startswith(thing)
