"""Search by association and context, over a real store: what is recorded as shown, time zones, both time lines."""

from __future__ import annotations

from typing import Any

from engramlog_server.api.services.knowing import Knower
from engramlog_server.events.catalogue import MemoriesAccessed
from engramlog_server.events.envelope import decode, from_micros, utc_text
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.standing import shown_in
from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.memory.record import HOUR
from tests.acceptance.helpers.store import Store
from tests.given.events import Told, created, mentioned
from tests.given.views import potter
from tests.rows import each_row

LATER = "2100-01-01T00:00:00Z"


def known(store: Store, *more: Told) -> str:
    """An owner who knows what `potter` tells since yesterday, and more."""
    owner = store.owner()
    store.tell(owner, *potter(store.yesterday), *more)
    return owner


def recorded(store: Store, owner: str) -> list[MemoriesAccessed]:
    """Every event that tells what an owner was shown."""
    store.flushed()
    stream = store.app.log.read(partition_of(owner, store.app.log.partitions), 0, 5_000)
    return [
        decode(one.kind, one.body).data  # type: ignore[misc]
        for one in stream
        if one.owner == owner and one.kind.startswith("MemoriesAccessed.")
    ]


def accesses(store: Store, owner: str) -> dict[str, list[str]]:
    """What was recorded as shown of an owner, by the way it was shown."""
    data = recorded(store, owner)
    return {one.via: list(shown_in(one)) for one in data}


@each_row("ranking", RANKINGS)
def test_results_are_recorded_as_recalled_and_what_they_bring_to_mind_as_associated(store: Store, ranking: str) -> None:
    owner = known(store)
    answer = store.reader.search(owner, "kiln", ranking=ranking, associations=True)
    shown = {
        "recall": [one["id"] for one in answer["results"]],
        "association": [one["id"] for one in answer["associated"]],
    }
    assert shown["recall"][0] == "kiln"
    assert sorted(shown["recall"] + shown["association"]) == ["clay", "fair", "kiln"]
    assert accesses(store, owner) == {via: ids for via, ids in shown.items() if ids}
    counts = [store.reader.get(owner, one, trace=False)["access_count"] for one in ("kiln", "clay", "fair")]
    assert counts == [1, 1, 1]


@each_row("asked", [{}, {"mode": "review"}, {"mode": "debug"}, {"at": "soon"}, {"as_of": "soon"}], ids=str)
def test_what_somebody_only_looks_at_is_recorded_in_any_mode_and_time_and_no_memory_gains_by_it(
    store: Store, asked: dict[str, Any]
) -> None:
    owner, soon = known(store), utc_text(from_micros(store.app.log.now() + HOUR))
    asked = {name: soon if value == "soon" else value for name, value in asked.items()}
    before = {one: store.reader.get(owner, one, trace=False) for one in ("kiln", "clay", "fair")}
    answer = store.reader.search(owner, "kiln", associations=True, inspect=True, **asked)
    store.reader.get(owner, "kiln", inspect=True)
    found = [one["id"] for one in answer["results"] + answer["associated"]]
    (data,) = recorded(store, owner)
    assert (data.via, [one.shown for one in data.accesses][-1]) == ("inspection", ("kiln",))
    assert {i for one in data.accesses for i in one.shown} == {*found, "kiln"}
    first = data.accesses[0]
    assert (first.mode, first.query, first.position) == (asked.get("mode", "normal"), "kiln", answer["position"])
    assert (first.read_at is None) == (not asked.keys() & {"at", "as_of"})
    after = {one: store.reader.get(owner, one, trace=False) for one in before}
    assert [one | {"position": ""} for one in after.values()] == [one | {"position": ""} for one in before.values()]


def test_an_access_names_the_position_that_its_answer_names_and_a_further_page_its_instant_and_ranks(
    store: Store,
) -> None:
    owner = known(store, created("Another kiln", "other", store.yesterday))
    first = store.reader.search(owner, "kiln", limit=1)
    second = store.reader.search(owner, "kiln", limit=1, cursor=first["next"])
    (data,) = recorded(store, owner)
    pages = [(one.shown, one.first, one.position, one.read_at is None) for one in data.accesses]
    ids = [answer["results"][0]["id"] for answer in (first, second)]
    assert pages == [((ids[0],), 1, first["position"], True), ((ids[1],), 2, second["position"], False)]


def test_where_no_associations_are_asked_for_only_results_are_recorded(store: Store) -> None:
    owner = known(store)
    store.reader.search(owner, "kiln")
    assert accesses(store, owner) == {"recall": ["kiln"]}


def test_no_other_question_leaves_a_trace(store: Store, knower: Knower) -> None:
    owner = known(store)
    position = store.tell(owner, mentioned("kiln", store.yesterday))
    for ranking in RANKINGS:
        for asked in ({"mode": "review"}, {"mode": "debug"}, {"as_of": position}, {"at": LATER}, {"trace": False}):
            store.reader.search(owner, "kiln", ranking=ranking, associations=True, **asked)  # type: ignore[arg-type]
    knower.assess(owner, "kiln")
    knower.map(owner, "kiln")
    knower.associations(owner, "kiln", mode="normal", depth=4)
    assert accesses(store, owner) == {}
