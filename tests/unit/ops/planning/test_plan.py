"""What a plan says: by how much is asked for, by what was measured, and what it warns of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumers.fold.folder import CACHED_BY_A_WORKER, CACHED_MEMORIES
from events.errors import InputError
from events.partitions import MAX_PARTITIONS
from ops.planning import measured
from ops.planning.asked import RANGES, Demand, check_demand, read_present
from ops.planning.plan import AmountSpan, plan

SMALL = Demand(events_per_day=2_000, owners=50, days=100)
LARGE = Demand(events_per_day=1e9, owners=100_000_000, memories_per_owner=200, days=365, active=0.02)
DOCS = Path(__file__).parents[4] / "docs" / "planning.md"


def amounts(demand: Demand, **beside: Any) -> dict[str, AmountSpan]:
    return {line.name: line.amount for line in plan(demand, **beside).lines}


def codes(demand: Demand) -> set[str]:
    return {one.code for one in plan(demand).warnings}


@given(
    events=st.floats(1, 1e12),
    owners=st.integers(1, 10**10),
    memories=st.none() | st.floats(0.01, 1e7),
    days=st.integers(1, 36_525),
    text=st.integers(1, 16_000),
    replicas=st.integers(0, 5),
    primaries=st.none() | st.sampled_from([1, 3, 1_024]),
    gib=st.floats(0.25, 65_536),
    sealed=st.booleans(),
)
def test_every_line_goes_from_the_least_to_the_most_and_a_cluster_is_never_of_two(
    events: float,
    owners: int,
    memories: float | None,
    days: int,
    text: int,
    replicas: int,
    primaries: int | None,
    gib: float,
    sealed: bool,
) -> None:
    found = plan(
        check_demand(
            Demand(
                events_per_day=events,
                owners=owners,
                memories_per_owner=memories,
                days=days,
                text=text,
                replicas=replicas,
                primaries=primaries,
                node_gib=gib,
                sealed=sealed,
            )
        )
    )
    told = {line.name: line.amount for line in found.lines}
    for name, amount in told.items():
        assert 0 <= amount.low <= amount.likely <= amount.high, name
    for count in (told["primaries"].low, told["primaries"].likely, told["primaries"].high):
        assert count == 1 or count >= 3
    partitions = int(told["partitions"].likely)
    assert 16 <= partitions <= MAX_PARTITIONS
    assert partitions & (partitions - 1) == 0
    assert told["replicas"].likely == replicas * told["primaries"].likely
    assert all(one in measured.figures() for line in found.lines for one in line.by)


def test_a_small_store_lies_on_one_redis_and_one_worker_folds_it() -> None:
    told = amounts(SMALL)
    assert [told[name].high for name in ("primaries", "fold workers", "API processes", "job workers")] == [1, 2, 1, 1]
    assert told["partitions"].likely == 16
    assert told["memory of a node"].high < 64 * 1_024**3
    assert codes(SMALL) == set()


def test_a_billion_events_a_day_are_more_than_partitions_can_bear_and_that_is_told() -> None:
    assert codes(LARGE) >= {
        "full_before_the_end",
        "too_many_partitions",
        "too_many_primaries",
        "large_slot",
        "long_restart",
        "extrapolated",
    }
    told = next(one.told for one in plan(LARGE).warnings if one.told.startswith("owners"))
    assert told == "owners: extrapolated 20,000 times beyond what was measured (5,000)"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"replicas": 0}, "no_replica"),
        ({"primaries": 1, "node_gib": 0.25}, "full_before_the_end"),
        ({"events_per_day": 3_000_000, "days": 30, "node_gib": 512}, "long_restart"),
        ({"events_per_day": 1e8, "days": 1, "peak": 100}, "hot_owner"),
        ({"events_per_day": 1e10, "days": 1, "peak": 2_000}, "more_workers_than_partitions"),
    ],
)
def test_each_warning_has_its_reason(changes: dict[str, Any], code: str) -> None:
    assert code in codes(msgspec.structs.replace(SMALL, **changes))
    assert code not in codes(SMALL)


def test_twice_the_events_of_the_same_memories_take_more_of_everything_that_grows() -> None:
    one, other = (
        amounts(Demand(events_per_day=rate, owners=1_000, memories_per_owner=100, days=100))
        for rate in (10_000, 20_000)
    )
    for name in ("data", "disk of a node", "restart of a node", "backup", "rebuild, CPU", "network of a node"):
        assert other[name].likely > one[name].likely, name
    assert other["days until full"].likely < one["days until full"].likely


def test_longer_texts_and_sealing_take_more() -> None:
    plain = amounts(SMALL)
    longer = amounts(msgspec.structs.replace(SMALL, text=4_000))
    sealed = amounts(msgspec.structs.replace(SMALL, sealed=True))
    assert longer["data"].likely > 4 * plain["data"].likely
    assert plain["data"].likely < sealed["data"].likely < 1.2 * plain["data"].likely
    assert sealed["backup"].likely > 2 * plain["backup"].likely


def test_dedupe_lies_in_tables_where_even_the_most_partitions_hold_too_many_ids() -> None:
    few, many = (
        Demand(events_per_day=rate, owners=1_000_000, days=100, primaries=64) for rate in (2_000_000, 3_000_000)
    )
    of = {rate: next(line for line in plan(rate).lines if line.name == "data") for rate in (few, many)}
    assert ("DEDUPE_BYTES" in of[few].by, "DEDUPE_TABLE_BYTES" in of[many].by) == (True, True)
    more = of[many].amount.likely / 3e8 - of[few].amount.likely / 2e8
    tables = measured.DEDUPE_TABLE_BYTES.value - measured.DEDUPE_BYTES.value
    assert tables - 1 < more < tables + 1


def test_memories_that_no_event_of_these_days_made_were_made_by_events_before() -> None:
    found = plan(Demand(events_per_day=1, owners=1_000, memories_per_owner=100, days=1))
    assert any("there already" in one for one in found.assumptions)
    assert found.lines[3].name == "data"
    assert found.lines[3].amount.likely > 100_000 * measured.MEMORY_BYTES.value


def test_the_log_of_some_hours_is_told_as_what_is_not_so_today() -> None:
    found = plan(msgspec.structs.replace(SMALL, hot_hours=6))
    hot = next(line for line in found.lines if line.name == "data, hot")
    assert hot.amount.likely < amounts(SMALL)["data"].likely
    assert "not so today" in hot.told
    assert any("there is no archive yet" in one for one in found.assumptions)


def test_what_a_store_tells_of_itself_counts_instead_of_what_was_measured() -> None:
    told = {
        "events": 1_000_000,
        "memory": {"bytes_an_event": 2_000.0},
        "disk": {"bytes_an_event": None},
        "growth": {"events_a_day": 5_000.0},
    }
    present = read_present(json.dumps(told).encode())
    assert (present.events, present.events_a_day) == (1_000_000, 5_000.0)
    found = amounts(Demand(events_per_day=10_000, owners=50, days=100), present=present)
    assert found["data"].likely == pytest.approx(2_000 * 2_000_000)


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"events":0,"memory":{"bytes_an_event":1},"growth":{"events_a_day":null}}',
        b'{"events":5,"memory":{"bytes_an_event":null},"growth":{"events_a_day":null}}',
        b'{"events":5,"memory":null,"growth":null}',
        b'{"events":5,"memory":{"bytes_an_event":-1},"growth":{"events_a_day":1}}',
    ],
)
def test_what_is_no_answer_of_capacity_is_refused(told: bytes) -> None:
    with pytest.raises(InputError) as refusal:
        read_present(told)
    assert refusal.value.context["field"] == "from_capacity"


@pytest.mark.parametrize("field", RANGES)
def test_what_is_out_of_range_is_refused_with_its_field_and_what_is_allowed(field: str) -> None:
    least, most = RANGES[field]
    for got in (least - abs(least) - 1, most * 2 + 1, float("nan")):
        with pytest.raises(InputError) as refusal:
            check_demand(msgspec.structs.replace(SMALL, **{field: got}))
        assert refusal.value.context["field"] == field
        assert refusal.value.context["allowed"] == f"{least:,g} to {most:,g}"


def test_two_primaries_are_refused() -> None:
    with pytest.raises(InputError, match="3 and more"):
        check_demand(msgspec.structs.replace(SMALL, primaries=2))


def test_the_page_tells_every_figure_as_it_is_reckoned_with() -> None:
    for name, one in measured.figures().items():
        assert one.low <= one.value <= one.high, name
        row = f"| `{name}` | {one.value:,g} | {one.low:,g} - {one.high:,g} | {one.unit} | {one.how} |"
        assert row in DOCS.read_text().splitlines()


def test_what_a_worker_keeps_is_what_the_fold_keeps() -> None:
    assert (CACHED_MEMORIES, CACHED_BY_A_WORKER) == (measured.CACHED_MEMORIES, measured.CACHED_BY_A_WORKER)
