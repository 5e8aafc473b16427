"""A replay of which nothing is struck is what is answered: the same order, mode, weights and standings, on both time lines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.api.services.comparison import Differ
from engramlog_server.api.services.replaying import Replayer
from engramlog_server.events.catalogue import SensitivitySet
from engramlog_server.events.envelope import utc_text
from engramlog_server.events.vocabulary import Actor
from tests.acceptance.helpers.store import Store, day
from tests.examples import examples
from tests.given.events import Told, brought_back, created, deleted, in_session, mentioned, negated, purged, set_aside
from tests.given.histories import FIRST, IDS, days, events, ids, words
from tests.given.vectors import Vectors
from tests.integration.live import live_store
from tests.servers import Servers

QUERIES = ["coffee tea", "我喜欢茶", "password"]
LATER = "2190-01-01T00:00:00Z"


sessions = st.sampled_from([None, "s1", "s2"])
withheld = st.one_of(
    st.builds(set_aside, st.sampled_from(["s1", "s2"]), day=days),
    st.builds(brought_back, st.sampled_from(["s1", "s2"]), day=days),
    st.builds(lambda actor, when: set_aside(None, when, actor=actor), words(Actor), days),
    st.builds(
        lambda of, level, when: Told(SensitivitySet(memory_id=of, level=level, reason="r"), when),
        ids,
        st.integers(0, 3),
        days,
    ),
    st.builds(lambda of: [deleted(of, day=1), purged(of, day=82, due=82)], st.sampled_from(IDS)),
)
said = st.builds(in_session, events, sessions)
stories = st.lists(st.one_of(said, said, withheld), max_size=24)
"""Anything, out of order; sources set aside and brought back, memories that are secret by hand, or purged."""
lines = st.none() | days.map(day) | st.integers(0, 40) | st.sampled_from([day(40)[:10], LATER])
asked = st.fixed_dictionaries({"as_of": lines, "known": lines, "at": st.none() | st.sampled_from([day(90), day(5)])})


def told(story: list[Any]) -> list[Told]:
    flat = [one for part in story for one in (part if isinstance(part, list) else [part])]
    return [Told(one.data, one.day, one.actor, one.extra, old=True) for one in [*FIRST, *flat]]


def times_of(asked: dict[str, Any], positions: list[str]) -> dict[str, Any]:
    """Numbers stand for positions of the story; of what was recorded no instant but now, or one of later, is known."""

    def time(name: str, value: Any) -> Any:
        if isinstance(value, int):
            return positions[value % len(positions)]
        return utc_text(datetime.now(UTC)) if name == "known" and value not in (None, LATER) else value

    return {name: time(name, value) for name, value in asked.items()}


def agrees(reader: Any, replayer: Replayer, owner: str, mode: str, times: dict[str, Any]) -> None:
    """Whether a replay of nothing is what is answered."""
    found = [reader.search(owner, one, mode=mode, limit=20, trace=False, reasons=False, **times) for one in QUERIES]
    orders = [[one["id"] for one in answer["results"]] for answer in found]
    answer = replayer.replay(owner, queries=QUERIES, mode=mode, limit=20, **times)
    assert (answer["differences"], answer["total"], answer["struck_total"]) == ([], 0, 0)
    sides = [(one["before"], one["after"], one["moved"]) for one in answer["questions"]]
    assert sides == [(order, order, []) for order in orders]
    assert (answer["position"], answer["at"]) == (found[0]["position"], times.get("at"))


@settings(max_examples=examples(40))
@given(stories, st.lists(asked, min_size=1, max_size=3), st.sampled_from(["normal", "review", "debug"]))
def test_without_a_strike_it_is_what_is_answered(
    store: Store, story: list[Any], times: list[dict[str, Any]], mode: str
) -> None:
    owner, positions = store.owner(), []
    for one in told(story):
        positions.append(store.tell(owner, one))
    for one in [{}, *times]:
        agrees(store.reader, store.replayer, owner, mode, times_of(one, positions))


def test_what_stood_still_is_replayed_as_it_is_answered(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a", day=store.yesterday), mentioned("a", store.yesterday))
    stuck = store.poison(owner)
    store.tell(owner, mentioned("a", 2))
    answer = store.replayer.replay(owner, queries=["coffee"], mode="normal")
    assert (answer["differences"], answer["questions"][0]["after"], answer["quarantined"]["position"]) == (
        [],
        ["a"],
        stuck,
    )
    store.operator.dead_discard(owner, stuck, "a test")
    agrees(store.reader, store.replayer, owner, "normal", {})


# --- where an embedder is configured


@pytest.fixture
def meant(redis_servers: Servers) -> Iterator[Vectors]:
    with live_store(redis_servers.get("valkey").url, partitions=2) as live:
        live.start_worker("folder")
        made = Vectors(live)
        yield made
        made.views.close()
        made.vectors.close()


@pytest.mark.parametrize("times", [{"at": day(3)}, {"as_of": day(3)}, {"as_of": day(3)[:10], "at": day(9)}])
def test_what_is_found_by_meaning_alone_is_found_in_a_replay_too(meant: Vectors, times: dict[str, str]) -> None:
    meant.embedder.alias = {"oven": "kiln"}
    meant.tell("ada", created("The kiln broke", "kiln"), created("Clay came late", "clay", day=1))
    meant.job.carry_out("ada")
    found = [one["id"] for one in meant.reader.search("ada", "oven", trace=False, **times)["results"]]
    replayer = Replayer(meant.live.log, meant.reader)
    answer = replayer.replay("ada", queries=["oven"], mode="normal", **times)
    assert found == ["kiln"]
    assert (answer["questions"][0]["before"], answer["questions"][0]["after"]) == (["kiln"], ["kiln"])


def test_what_is_found_by_meaning_alone_is_found_on_both_sides_of_what_changed(meant: Vectors) -> None:
    meant.embedder.alias = {"oven": "kiln"}
    meant.tell("ada", created("The kiln broke", "kiln"), created("Clay came late", "clay", day=1), negated("kiln", 2))
    meant.job.carry_out("ada")
    sides = {"since": day(1), "until": day(3), "line": "happened"}
    found = [
        [one["id"] for one in meant.reader.search("ada", "oven", trace=False, as_of=of)["results"]]
        for of in (day(1), day(3))
    ]
    differ = Differ(meant.live.log, meant.reader, meant.views)
    (question,) = differ.diff("ada", queries=["oven"], **sides)["questions"]
    assert found[0] == ["kiln"] != found[1]
    assert [question["before"], question["after"]] == found
