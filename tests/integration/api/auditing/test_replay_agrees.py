"""A replay of which nothing is struck is what is answered: the same order, mode, weights and standings, on both time lines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.catalogue import SensitivitySet
from events.envelope import utc_text
from events.vocabulary import Actor
from tests.acceptance.helpers.store import Store, day, embedded_store
from tests.examples import examples
from tests.given.events import Told, brought_back, deleted, in_session, purged, set_aside
from tests.given.histories import FIRST, IDS, days, events, ids, words

QUERIES = ("coffee tea", "我喜欢茶", "password")
LATER = "2190-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with embedded_store(tmp_path_factory.mktemp("replays") / "data") as opened:
        yield opened


sessions = st.sampled_from([None, "s1", "s2"])
asides = st.one_of(
    st.builds(set_aside, st.sampled_from(["s1", "s2"]), day=days),
    st.builds(brought_back, st.sampled_from(["s1", "s2"]), day=days),
    st.builds(lambda actor, when: set_aside(None, when, actor=actor), words(Actor), days),
    st.builds(
        lambda of, level, when: Told(SensitivitySet(memory_id=of, level=level, reason="r"), when),
        ids,
        st.integers(0, 3),
        days,
    ),
    st.builds(lambda of: [deleted(of, day=1), purged(of, day=82, due=200)], st.sampled_from(IDS)),
)
stories = st.lists(
    st.one_of(st.builds(in_session, events, sessions), st.builds(in_session, events, sessions), asides), max_size=24
)
lines = st.none() | days.map(day) | st.integers(0, 40) | st.sampled_from([day(40)[:10], LATER])
asked = st.fixed_dictionaries({"as_of": lines, "known": lines, "at": st.none() | st.sampled_from([day(90), day(5)])})


def of_old(story: list[Any]) -> list[Told]:
    flat = [one for told in story for one in (told if isinstance(told, list) else [told])]
    return [Told(one.data, one.day, one.actor, one.extra, old=True) for one in [*FIRST, *flat]]


def told_times(asked: dict[str, Any], positions: list[str]) -> dict[str, Any]:
    """Numbers stand for positions of the story; what was recorded is asked about as of now."""

    def place(name: str, value: Any) -> Any:
        if isinstance(value, int):
            return positions[value % len(positions)]
        if name == "known" and value is not None:
            return utc_text(datetime.now(UTC)) if value != LATER else LATER
        return value

    return {name: place(name, value) for name, value in asked.items()}


@settings(max_examples=examples(60))
@given(stories, st.lists(asked, min_size=1, max_size=3), st.sampled_from(["normal", "review", "debug"]))
def test_without_a_strike_it_is_what_is_answered(
    store: Store, story: list[Any], times: list[dict[str, Any]], mode: str
) -> None:
    owner = store.owner()
    positions = [store.tell(owner, one) for one in of_old(story)[:1]]
    for one in of_old(story)[1:]:
        positions.append(store.tell(owner, one))
    for told in times:
        where = told_times(told, positions)
        for query in QUERIES:
            found = store.reader.search(owner, query, mode=mode, limit=20, trace=False, reasons=False, **where)
            answer = store.replayer.replay(owner, query=query, mode=mode, limit=20, **where)
            assert answer["differences"] == []
            order = [one["id"] for one in found["results"]]
            assert (answer["query"]["today"], answer["query"]["replayed"]) == (order, order), where
