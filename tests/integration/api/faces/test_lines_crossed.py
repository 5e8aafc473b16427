"""Both time lines on what reads more than memories: context, uses, stats, replay, curves, export; over random late events.

The oracle is a list of what was told, filtered, and counted by hand: it shares no fold with the program.
"""

from __future__ import annotations

import pytest

from engramlog_server.api.exchange.export import ExportOptions
from engramlog_server.events.catalogue import SensitivitySet
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import InputError
from engramlog_server.projections.redis.said import REACHES
from tests.acceptance.helpers.store import Store, day
from tests.given.events import Told, created, deleted, mentioned, negated, parameters, purged
from tests.given.said import injected, said

LATER = "2100-01-01T00:00:00Z"


def recorded(store: Store, position: str) -> str:
    """When the entry at a position was recorded."""
    partition, seq = map(int, position.split(":"))
    (found,) = store.app.log.read_at(partition, [seq])
    assert found.recorded is not None
    return utc_text(from_micros(found.recorded))


# --- context


def test_a_block_about_the_past_is_the_one_that_was_given_then_and_records_nothing(store: Store) -> None:
    owner, asks = store.owner(), "What do I drink in the morning?"
    position = store.tell(
        owner,
        created("I drink coffee every morning", "coffee", day=store.yesterday),
        created("Her name is Ada", "name", tier="core", day=store.yesterday),
        said("t1", "Good morning", day=store.yesterday),
    )
    given = store.app.contexts.context(owner, asks, trace=False)
    assert given["injected"] == ["name", "coffee"]
    store.tell(
        owner,
        negated("coffee", store.yesterday, resolution="latest_wins"),
        created("I drink tea every morning", "tea", day=store.yesterday),
        said("t2", "I drink tea now", day=store.yesterday),
    )
    head = store.head(owner)
    for known in (position, recorded(store, position)):
        again = store.app.contexts.context(owner, asks, known=known)
        assert (again["injected"], again["recorded"]) == (["name", "coffee"], {"status": "off"})
        assert [again["parts"][part] for part in ("core", "remembered", "retrieved", "tools")] == [
            given["parts"][part] for part in ("core", "remembered", "retrieved", "tools")
        ]
        assert (again["known"], again["position"]) == (known, position)
    store.flushed()
    assert store.head(owner) == head
    assert store.app.contexts.context(owner, asks, trace=False)["injected"] == ["name", "tea"]


def test_the_time_of_a_block_is_the_instant_that_it_is_about(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a", day=0), parameters(0, time_zone="Asia/Shanghai"))
    answer = store.app.contexts.context(owner, "Hello", as_of="2024-03-01T20:00:00Z")
    assert answer["parts"]["time"] == "2024-03-02 04:00 Saturday (Asia/Shanghai)"


def test_what_was_deleted_or_found_sensitive_since_stands_in_no_block_of_before(store: Store) -> None:
    owner, now = store.owner(), store.yesterday
    position = store.tell(
        owner,
        created("I drink coffee at the kiln", "gone", day=now, tier="core"),
        created("I drink tea at the kiln", "told", day=now, tier="core"),
        created("I drink water at the kiln", "kept", day=now, tier="core"),
    )
    store.tell(
        owner,
        deleted("gone", now, reason="user_delete"),
        Told(SensitivitySet(memory_id="told", level=2, reason="private"), now),
    )
    answer = store.app.contexts.context(owner, "What do I drink at the kiln?", known=position, sensitive=False)
    assert answer["injected"] == ["kept"]
    assert answer["left_out"].keys() >= {"deleted", "sensitive"}
    assert "coffee" not in answer["block"]
    assert "tea" not in answer["block"]
    asked = store.app.contexts.context(owner, "What do I drink at the kiln?", known=position, sensitive=True)
    assert set(asked["injected"]) == {"kept", "told"}


def test_a_turn_that_was_retracted_since_is_told_of_no_past(store: Store) -> None:
    owner, now = store.owner(), store.yesterday + 0.999
    position = store.tell(
        owner,
        said("t1", "The kiln is behind the church", day=now),
        created("The kiln is behind the church", "t1", day=now, kind="episode", source_turns=("t1",)),
        created("I like kilns", "kilns", day=now),
        injected("kilns", turn_id="t1", day=now),
    )
    assert "behind the church" in str(store.app.contexts.context(owner, "and now?", session="s1", known=position))
    assert "behind the church" in str(store.app.answers.uses(owner, "kilns", known=position))
    store.tell(owner, deleted("t1", now, reason="user_delete"))
    assert "behind the church" not in str(store.app.contexts.context(owner, "and now?", session="s1", known=position))
    (use,) = store.app.answers.uses(owner, "kilns", known=position)["uses"]
    assert (use["turn_id"], "church" in use["turn"]["text"]) == ("t1", False)


def test_a_block_of_the_past_reads_back_as_far_as_one_of_today(store: Store) -> None:
    owner, now = store.owner(), store.yesterday + 0.999
    store.tell(owner, said("old", "Good morning", day=now))
    for _ in range(0, REACHES[0] + 40, 56):
        store.tell(owner, *(mentioned("nothing", day=now) for _ in range(56)))
    position = store.tell(owner, created("coffee", "a", day=now))
    store.tell(owner, said("new", "Good evening", day=now))
    past = store.app.contexts.context(owner, "and now?", session="s1", known=position)
    assert [line["id"] for line in past["parts"]["remembered"]] == ["old"]
    assert past["read_back"] == "all"


def test_a_block_of_the_past_reads_back_no_further_than_one_of_today(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, said("old", "Good morning", day=0, session="s1"))
    for start in range(0, REACHES[-1] + 60, 120):
        store.tell(owner, *(said(f"t{start + n}", "Well", day=1, session="other") for n in range(120)))
    position = store.tell(owner, created("coffee", "a", day=2))
    today, past = (
        store.app.contexts.context(owner, "Hello", session="s1", trace=False, **times)
        for times in ({}, {"known": position})
    )
    assert (past["read_back"], past["parts"]["remembered"]) == ("part", [])
    assert (today["read_back"], today["parts"]["remembered"]) == ("part", [])


# --- the others


def test_counts_of_the_whole_store_are_of_now_alone(store: Store) -> None:
    for field in ("as_of", "known", "at", "after"):
        with pytest.raises(InputError, match=f"^{field}: got .*without an owner"):
            store.operator.stats(None, **{field: LATER})  # type: ignore[arg-type]


def test_a_replay_of_the_past_leaves_out_of_what_was_known_then(store: Store) -> None:
    owner = store.owner()
    position = store.tell(owner, created("coffee", "a", day=0), mentioned("a", day=1))
    mention = store.reader.history(owner)["changes"][-1]["event_id"]
    store.tell(owner, negated("a", 1, resolution="latest_wins"))
    (told,) = store.replayer.replay(owner, known=position, without=[mention])["differences"]
    assert (told["id"], told["today"]["mention_count"], told["replayed"]["mention_count"]) == ("a", 2, 1)
    assert told["today"]["is_negated"] is False


def test_curves_of_the_past_end_with_it_unless_told(store: Store) -> None:
    owner = store.owner()
    store.tell(owner, created("coffee", "a", day=0), mentioned("a", day=9))
    told = store.app.comparer.curves(owner, "a", as_of=day(5))
    assert (told["window"]["to"], len(told["events"])) == (day(5), 1)
    ahead = store.app.comparer.curves(owner, "a", as_of=day(5), until=day(20))
    assert (ahead["window"]["to"], len(ahead["events"])) == (day(20), 1)


def test_an_export_of_the_past_has_what_was_deleted_since_and_nothing_that_was_purged(store: Store) -> None:
    owner = store.owner()
    position = store.tell(owner, *(created(f"I like {name}", name, day=0) for name in ("coffee", "tea", "water")))
    store.tell(owner, deleted("tea", 1), deleted("water", 1), purged("water", 40))
    told = store.app.records.export(owner, ExportOptions(), known=position)
    assert [line["memory_id"] for line in told.records()] == ["coffee", "tea"]
    assert told.left_out == {"purged": 1}
    text = store.app.records.export(owner, ExportOptions(), "text", as_of="2024-01-01")
    assert "water" not in "".join(text.text or ())
