"""A store in virtual time: what happens in it is what its rules say, and the same for the same seed on any machine."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import msgspec
import numpy as np
import pytest

from events.errors import InputError
from events.partitions import crc16, partition_of, spread_tags
from ops.planning.simulation import flows, running
from ops.planning.simulation.asked import DAY, KINDS, Happening, SimulationAsked, happenings_of
from ops.planning.simulation.load import DailyCurve, nodes_of, shares
from ops.planning.simulation.rounds import fastest, steady
from ops.planning.simulation.running import Simulated, simulate

SMALL = {"events_per_day": 500.0 * DAY, "peak": 0.0, "owners": 5_000.0, "partitions": 64, "primaries": 3, "workers": 4}
MINUTES = 1 / 60
TOLD = """
import sys, msgspec
from ops.planning.simulation.asked import SimulationAsked, happenings_of
from ops.planning.simulation.running import simulate
asked = msgspec.json.decode(sys.argv[1], type=SimulationAsked)
sys.stdout.buffer.write(msgspec.json.encode(simulate(asked)[0], order="sorted"))
"""


def asked(*fails: str, minutes: float = 3, **more: object) -> SimulationAsked:
    return msgspec.convert(
        SMALL | {"hours": minutes * MINUTES, "happenings": happenings_of(fails), "node_timeout": 3.0} | more,
        SimulationAsked,
    )


@cache
def played(*fails: str, minutes: float = 3) -> Simulated:
    return simulate(asked(*fails, minutes=minutes))[0]


def test_the_same_seed_tells_the_same_in_another_process_and_another_seed_does_not() -> None:
    question = asked("worker-killed@60s", "primary-killed@90s")
    told = msgspec.json.encode(simulate(question)[0], order="sorted")
    command = [sys.executable, "-P", "-c", TOLD, msgspec.json.encode(question).decode()]
    other = subprocess.run(command, capture_output=True, check=True, env=os.environ | {"PYTHONHASHSEED": "4"}).stdout
    assert other == told
    another = msgspec.structs.replace(question, seed=8)
    assert simulate(another)[0].events != msgspec.json.decode(told)["events"]


def test_where_nothing_happens_all_is_folded_at_once_and_no_lease_is_tried_in_vain() -> None:
    found = played()
    assert found.tries_in_vain == 0
    assert 64 <= found.tries <= 2 * 64  # who begins first takes what others get of him
    assert found.lag_worst < 1.0
    assert found.refused == found.turned_away == found.stalled_seconds == 0
    assert found.events - found.folded < 500
    assert found.events == pytest.approx(500 * 180, rel=0.02)


def test_a_killed_worker_is_replaced_once_its_leases_have_ended_and_not_before() -> None:
    (moved,) = played("worker-killed@60s").happened
    assert moved.taken_over_seconds is not None
    assert 2.0 - 0.1 <= moved.taken_over_seconds <= 4.0
    assert moved.worst_lag_seconds >= moved.taken_over_seconds - 0.5
    assert played("worker-killed@60s").tries == played().tries + 64 // 4


def test_a_worker_that_is_told_to_end_is_replaced_at_the_next_tick_of_another() -> None:
    (moved,) = played("worker-ended@60s").happened
    assert moved.taken_over_seconds is not None
    assert moved.taken_over_seconds < 1.5


@pytest.mark.parametrize("kind", ["workers-restarted", "rolling-upgrade", "worker-joins", "slots-moved", "node-slow"])
def test_whatever_happens_every_event_is_folded_in_the_end(kind: str) -> None:
    found = played(f"{kind}@30s")
    assert found.events - found.folded < 500
    (moved,) = found.happened
    assert moved.taken_over_seconds is not None
    assert moved.caught_up_seconds is not None


def test_workers_that_begin_together_do_not_take_one_another_s_leases() -> None:
    found = played("workers-restarted@30s")
    assert found.tries <= 64 * 4
    assert found.tries_in_vain == 0


def test_a_lost_primary_keeps_appends_waiting_until_its_replica_takes_its_place() -> None:
    found = played("primary-killed@60s")
    (moved,) = found.happened
    assert 3.0 + 1.4 - 0.2 <= moved.stalled_seconds <= 3.0 + 2.6 + 2.0
    assert moved.worst_lag_seconds >= 3.0
    assert moved.caught_up_seconds is not None
    assert found.events - found.folded < 500  # what waited was appended, and none of it twice
    assert found.events == pytest.approx(500 * 180, rel=0.02)


def test_a_primary_that_is_full_refuses_and_one_whose_events_leave_is_not() -> None:
    full = simulate(asked(minutes=3, ram_gb=0.012))[0]
    assert full.full_at is not None
    assert full.turned_away > 0
    assert full.ram_gb <= 0.012
    bare = simulate(asked(minutes=3, ram_gb=0.012, hot_hours=1 / 60))[0]
    assert bare.turned_away < full.turned_away
    roomy, emptied = (simulate(asked(minutes=3, hot_hours=hours))[0].ram_gb for hours in (None, 1 / 60))
    assert emptied < 0.8 * roomy


def test_dedupe_takes_more_once_a_partition_holds_too_many_ids_for_its_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = simulate(asked(minutes=3))[0]
    monkeypatch.setattr(flows, "LISTED_EVENTS", 1)
    tabled = simulate(asked(minutes=3))[0]
    each = (tabled.ram_gb - listed.ram_gb) * 1e9 / (listed.events / 3)
    assert flows.TABLE_BYTES * 0.9 < each < flows.TABLE_BYTES * 1.3  # of the fullest primary of three


def test_one_owner_is_one_worker_s_speed_and_what_is_more_waits() -> None:
    speed = float(fastest(np.array([64.0]), many=True)[0])
    slow, fast = (simulate(asked(minutes=2, workers=1, hot_owner=speed * part))[0] for part in (0.5, 1.5))
    assert slow.lag_worst < 5.0
    assert fast.lag_worst > 20.0
    assert fast.worst_partition == 0


def test_the_busier_workers_are_the_less_an_event_costs() -> None:
    rates = np.array([10.0, 1_000.0, 10_000.0])
    rounds = steady(rates, np.full(3, 16.0), many=False, answer_seconds=0.001)
    cost = rounds.cpu / rates
    assert cost[0] > cost[1] > cost[2]
    assert (rounds.cpu <= 1.0).all()


def test_a_day_has_the_mean_and_the_peak_that_are_asked_for() -> None:
    question = SimulationAsked(peak=60_000.0)
    seconds = np.arange(0, DAY, 60.0)
    rates = np.array([DailyCurve(question).at(float(one)) for one in seconds])
    assert rates.mean() == pytest.approx(1e9 / DAY, rel=0.001)
    assert rates.max() == pytest.approx(60_000.0, rel=0.001)
    assert seconds[rates.argmax()] / 3_600 == pytest.approx(20.0)
    flat = [DailyCurve(SimulationAsked(peak=0.0)).at(one) for one in (0.0, 50_000.0)]
    assert flat == [pytest.approx(1e9 / DAY)] * 2


def test_partitions_get_what_their_owners_have_by_the_store_s_own_hash() -> None:
    found = shares(SimulationAsked(owners=100, partitions=16, primaries=1, zipf=1.0))
    weights = [1 / number for number in range(1, 101)]
    by_hand = [sum(w for n, w in enumerate(weights) if partition_of(f"owner-{n}", 16) == p) for p in range(16)]
    assert found == pytest.approx(np.array(by_hand) / sum(weights))
    assert shares(SimulationAsked(partitions=64)).sum() == pytest.approx(1.0)
    assert nodes_of(16, 4).tolist() == [crc16(tag) % 16_384 * 4 // 16_384 for tag in spread_tags(16)]


def test_times_are_read_as_people_write_them() -> None:
    assert happenings_of(["burst@1h30m", "worker-killed@90s", "node-slow@2m"]) == (
        Happening("worker-killed", 90.0),
        Happening("node-slow", 120.0),
        Happening("burst", 5_400.0),
    )


@pytest.mark.parametrize("word", ["worker-killed", "worker-killed@", "fire@3h", "burst@soon", "burst@-1s", ""])
def test_what_cannot_happen_is_refused_and_what_can_is_named(word: str) -> None:
    with pytest.raises(InputError, match="slots-moved") as refusal:
        happenings_of([word])
    assert "fail" in str(refusal.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("partitions", 0), ("partitions", 1_025), ("primaries", 65), ("workers", 0), ("hours", 0.0), ("zipf", -1.0),
        ("owners", float("nan")), ("peak", 1e8), ("starts", 25.0), ("events_per_day", 0.0), ("lease_ms", 1), ("at_once", 0.5),
        ("hot_hours", 0.0), ("node_timeout", 0.0),
    ],
)  # fmt: skip
def test_what_is_out_of_bounds_is_refused_by_name(field: str, value: float) -> None:
    with pytest.raises(InputError, match=field):
        asked(**{field: value}).checked()


def test_what_would_happen_after_the_end_is_refused() -> None:
    with pytest.raises(InputError, match="before the end"):
        asked("burst@4m").checked()


def test_without_simpy_it_is_said_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simpy", None)
    with pytest.raises(InputError, match=r"engramlog\[simulation\]"):
        simulate(asked())
    assert "simulation" in running.MISSING


def test_every_kind_is_carried_out() -> None:
    found = simulate(asked(*(f"{kind}@{10 + 2 * number}s" for number, kind in enumerate(KINDS)), minutes=2))[0]
    assert [one.kind for one in found.happened] == list(KINDS)
