"""What `bench scale` says of what it measured, and the traffic it is measured on."""

from __future__ import annotations

from collections import Counter

import pytest

from ops.bench.sample import sample
from ops.bench.scale.flat import compared, spread
from ops.bench.scale.measure import SMALL, kinds_of
from ops.bench.scale.sharing import evenness
from ops.bench.scale.sizes import _part
from ops.bench.scale.traffic import EVENTS_AN_OWNER, Traffic, owners_of


@pytest.mark.parametrize(
    ("before", "after", "ratio", "verdict"),
    [
        ([10, 10, 10], [10.9], 1.09, "flat"),
        ([10, 10, 10], [11.2], 1.12, "not flat"),
        ([8, 10, 12], [11.9], 1.19, "flat"),
        ([10], [5], 0.5, "flat"),
        ([10], [9, 12, 12.5], 1.2, "flat"),
        ([0.0], [0.0], 1.0, "flat"),
    ],
)
def test_a_cost_is_flat_within_the_spread_of_its_rounds_and_a_tenth_at_least(
    before: list[float], after: list[float], ratio: float, verdict: str
) -> None:
    row = compared("fold_us", "more for less", before, after)
    assert (row["ratio"], row["verdict"]) == (ratio, verdict)
    assert row["rounds"] == [len(before), len(after)]


def test_the_spread_is_the_farthest_round_by_the_median() -> None:
    assert spread([8, 10, 11]) == pytest.approx(0.2)
    assert spread([3]) == 0
    assert evenness([50, 50]) == 1
    assert evenness([90, 10]) == pytest.approx(1.8)


def test_traffic_is_the_same_for_the_same_seed_and_few_say_much() -> None:
    one, other = (Traffic(100, "talk", seed=3).lot(2_000) for _ in range(2))
    assert [event.body for event in one] == [event.body for event in other]
    counts = Counter(event.owner for event in one)
    first = counts.most_common(1)[0][1] / len(one)
    assert first == pytest.approx(Traffic(100, "talk").largest, rel=0.2)
    assert first > 5 * min(counts.values()) / len(one)
    assert {event.kind.partition(".")[0] for event in one} >= {"MemoryCreated", "MemoryMentioned", "MemoriesAccessed"}


def test_owners_come_and_go_so_that_as_many_speak_at_a_time_in_a_store_of_more() -> None:
    traffic = Traffic(400, "talk", at_once=20)
    lots = [{event.owner for event in traffic.lot(1_000)} for _ in range(80)]
    assert all(len(lot) <= 20 + 1_000 // EVENTS_AN_OWNER for lot in lots)
    assert not lots[0] & lots[20]
    assert len(set().union(*lots)) == 400
    everybody = [event.body for event in Traffic(20, "talk", at_once=20).lot(500)]
    assert everybody == [event.body for event in Traffic(20, "talk").lot(500)]


def test_a_larger_store_is_also_filled_by_as_many_owners_at_a_time_as_the_smallest_has() -> None:
    plan = SMALL._replace(scales=(1_000, 400_000))
    kinds = {events: [kind.at_once for kind in kinds_of(plan, events)] for events in plan.scales}
    assert kinds == {1_000: [None] * 4, 400_000: [None, None, 5]}
    assert [kind.told(400_000)["owners_at_once"] for kind in kinds_of(plan, 400_000)] == [2_000, 2_000, 5]


def test_a_sample_of_owners_who_say_as_much_is_what_it_was() -> None:
    events = sample(100, 5, texts="talk")
    assert {event.owner for event in events[:5]} == {f"owner-0000{number}" for number in range(5)}
    assert len({event.event_id for event in events}) == 100


def test_an_owner_has_the_same_history_at_every_size() -> None:
    assert [owners_of(events) for events in (10, 100_000, 1_000_000)] == [1, 500, 5_000]


@pytest.mark.parametrize(
    ("key", "part"),
    [
        (b"{e1}:ev", "ev"),
        (b"{e1}:ids:17", "ids"),
        (b"{e1}:v7:st:owner-1", "st"),
        (b"{e1}:v7.2:own", "own"),
        (b"{e1}:v7:st:a:b}:c", "st"),
        (b"engramlog:store", ""),
    ],
)
def test_a_key_is_told_by_what_it_is_for(key: bytes, part: str) -> None:
    assert _part(key) == part
