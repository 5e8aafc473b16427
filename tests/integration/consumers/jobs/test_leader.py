"""The schedule: one leader, one job per partition and tick whoever leads, and somebody else within seconds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count, pairwise
from threading import Barrier
from typing import Any

import pytest
import redis
from rq import Queue

from engramlog_server.consumers.jobs.queue import JobScheduler, lifecycle_queue
from engramlog_server.consumers.jobs.run import EXTRACT, KINDS, usual
from engramlog_server.consumers.jobs.schedule import Leader, done_field, lifecycle_status, schedule_key
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from tests.patience import PATIENCE
from tests.servers import RedisServer

STORE = "test"
HOUR = 3_600_000
DAY = 24 * HOUR
NINE = 20_000 * DAY + 9 * HOUR
"""Nine o'clock of some day, milliseconds since 1970."""


@pytest.fixture
def client(server: RedisServer) -> Iterator[redis.Redis]:
    with server.client() as opened:
        yield opened


def cron(client: redis.Redis, holder: str = "a", *, partitions: int = 4, **options: Any) -> JobScheduler:
    return JobScheduler(client, STORE, partitions, holder, **options)


def enqueued(client: redis.Redis) -> list[str]:
    """The ids of the jobs that wait, the store's id left out."""
    return [job_id.replace(f"-{STORE}", "") for job_id in lifecycle_queue(client, STORE).job_ids]


def test_of_many_candidates_one_leads_until_its_lease_ends(client: redis.Redis) -> None:
    a, b, c = (Leader(open_wire(client), STORE, name, lease_ms=3_000) for name in "abc")
    assert [one.tend(NINE) for one in (a, b, c)] == [True, False, False]
    assert [one.tend(NINE + 2_000) for one in (b, a)] == [False, True]
    assert [one.tend(NINE + 4_000) for one in (b, c)] == [False, False]  # renewed until 5,000
    assert [one.tend(NINE + 5_000) for one in (c, b)] == [True, False]
    assert [one.tend(NINE + 6_000) for one in (a, c)] == [False, True]  # back from a pause, it has lost it


def test_a_leader_that_leaves_lets_another_lead_at_once_and_takes_nothing_with_it(client: redis.Redis) -> None:
    a, b = (Leader(open_wire(client), STORE, name) for name in "ab")
    assert a.tend(NINE)
    a.leave()
    assert not a.leads
    assert b.tend(NINE + 1)
    a.leave()
    assert b.tend(NINE + 2)


def test_leases_of_two_stores_do_not_meet(client: redis.Redis) -> None:
    assert Leader(open_wire(client), "one", "a").tend(NINE)
    assert Leader(open_wire(client), "two", "b").tend(NINE)


def test_a_tick_is_one_job_per_partition_hourly_and_another_daily(client: redis.Redis) -> None:
    scheduler = cron(client, partitions=2)
    assert scheduler.tend(NINE + 5) == 4
    hourly = ["upkeep-p0-20241004T0900", "upkeep-p1-20241004T0900"]
    daily = ["daily-p0-20241004T0000", "daily-p1-20241004T0000"]
    assert enqueued(client) == hourly + daily
    assert [scheduler.tend(NINE + after) for after in (6, HOUR - 1)] == [0, 0]
    assert scheduler.tend(NINE + HOUR) == 2
    assert enqueued(client)[4:] == ["upkeep-p0-20241004T1000", "upkeep-p1-20241004T1000"]


def test_any_number_of_schedulers_enqueue_each_tick_once(client: redis.Redis) -> None:
    """A day, looked at every ten minutes by five at the same moment; leases long over each time, so that leaders change."""
    schedulers = [cron(client, name, partitions=2) for name in "abcde"]
    moments, meet = range(NINE, NINE + DAY, HOUR // 6), Barrier(len(schedulers))

    def look(scheduler: JobScheduler) -> int:
        added = 0
        for moment in moments:
            meet.wait(PATIENCE)
            added += scheduler.tend(moment)
        return added

    with ThreadPoolExecutor(len(schedulers)) as threads:
        added = list(threads.map(look, schedulers))
    found = Counter(enqueued(client))
    assert set(found.values()) == {1}
    assert Counter(job_id.partition("-")[0] for job_id in found) == {"upkeep": 2 * 24, "daily": 2 * 2}
    assert sum(added) == len(found)


def test_two_leaders_at_once_still_enqueue_one_job_per_partition_and_tick(client: redis.Redis) -> None:
    first, second = cron(client, "a", partitions=16), cron(client, "b", partitions=16)
    meet = Barrier(2)

    def both_lead(scheduler: JobScheduler) -> int:
        meet.wait(PATIENCE)
        return scheduler.enqueue("upkeep", NINE)

    with ThreadPoolExecutor(2) as threads:
        added = list(threads.map(both_lead, (first, second)))
    assert sum(added) == 16
    assert sorted(enqueued(client)) == sorted(f"upkeep-p{partition}-20241004T0900" for partition in range(16))


def test_a_leader_that_dies_between_two_jobs_is_made_up_for(client: redis.Redis) -> None:
    """As one does that knows of only three partitions: it has enqueued three of eight, and noted nothing."""
    assert cron(client, "a", partitions=3).enqueue("upkeep", NINE) == 3
    assert cron(client, "b", partitions=8).tend(NINE + 4_000) == 5 + 8
    assert Counter(enqueued(client)).most_common(1)[0][1] == 1


def test_a_tick_already_done_is_not_enqueued_again_by_a_leader_who_was_paused(client: redis.Redis) -> None:
    scheduler = cron(client)
    scheduler.enqueue("upkeep", NINE)
    queue = lifecycle_queue(client, STORE)
    job = queue.fetch_job(queue.job_ids[0])
    assert job is not None
    queue.remove(job)
    job.cleanup(ttl=job.get_result_ttl(0))  # as RQ does when a job is done
    assert scheduler.enqueue("upkeep", NINE) == 0


def test_payloads_hold_ids_and_no_address(client: redis.Redis) -> None:
    cron(client, partitions=1).tend(NINE)
    queue = lifecycle_queue(client, STORE)
    jobs = [queue.fetch_job(job_id) for job_id in queue.job_ids]
    raw = [client.hget(job.key, "data") for job in jobs if job]
    assert [(job.func_name, job.args) for job in jobs if job] == [
        ("consumers.rq_jobs.run", ["upkeep", STORE, 0, "20241004T0900"]),
        ("consumers.rq_jobs.run", ["daily", STORE, 0, "20241004T0000"]),
    ]
    assert [(job.retries_left, job.retry_intervals) for job in jobs if job] == [(3, [30, 120, 600])] * 2
    assert all(Queue(connection=client, serializer="json").serializer.loads(one) for one in _unpacked(raw))


def _unpacked(raw: list[bytes | None]) -> list[bytes]:
    from zlib import decompress

    told = [decompress(one) for one in raw if one]
    assert all(json.loads(one) for one in told)
    return told


def test_ticks_missed_are_made_up_for_once(client: redis.Redis) -> None:
    cron(client, "a", partitions=1).tend(NINE)
    assert cron(client, "b", partitions=1).tend(NINE + 7 * HOUR) == 1
    assert enqueued(client)[-1] == "upkeep-p0-20241004T1600"


@pytest.mark.parametrize("minutes", [60, 90, 120])
def test_ticks_are_an_hour_apart_at_least_whoever_schedules_at_which_pace(client: redis.Redis, minutes: int) -> None:
    paces = [cron(client, "a", partitions=1, minutes=60), cron(client, "b", partitions=1, minutes=minutes)]
    turns = count()
    for moment in range(NINE, NINE + 12 * HOUR, HOUR // 4):
        paces[next(turns) // 3 % 2].tend(moment)
    ticks = [job_id[-4:] for job_id in enqueued(client) if job_id.startswith("upkeep")]
    begun = [int(tick[:2]) * 60 + int(tick[2:]) for tick in ticks]
    assert len(begun) > 5
    assert min(later - earlier for earlier, later in pairwise(begun)) >= 60


def test_a_clock_that_went_far_ahead_once_does_not_stop_the_schedule(client: redis.Redis) -> None:
    scheduler = cron(client, partitions=1)
    scheduler.tend(NINE + 1_000 * DAY)
    assert scheduler.tend(NINE + HOUR) == 2


def test_status_tells_the_leader_the_ticks_and_the_queue(client: redis.Redis) -> None:
    nothing = lifecycle_status(open_wire(client), STORE, 2)
    assert nothing == {
        "leader": None,
        "last_tick": None,
        "next_tick": None,
        "queued": 0,
        "running": 0,
        "failed": 0,
        "refused": 0,
        "beside": {},
        "stopped": {},
        "done": {},
    }
    scheduler = cron(client, "somebody", partitions=4)
    scheduler.tend(scheduler.now_ms())
    told = lifecycle_status(open_wire(client), STORE, 2)
    assert (told["leader"], told["queued"]) == ("somebody", lifecycle_queue(client, STORE).count)
    assert told["last_tick"] < told["next_tick"]
    assert {told["last_tick"][13:], told["next_tick"][13:]} == {":00:00Z"}
    scheduler.leave()
    left = lifecycle_status(open_wire(client), STORE, 2)
    assert (left["leader"], left["last_tick"], left["next_tick"]) == (None, told["last_tick"], None)


def test_status_tells_when_a_kind_last_ran_through_by_the_partition_that_waits_longest(client: redis.Redis) -> None:
    scheduler = cron(client, "somebody", partitions=2)
    scheduler.tend(scheduler.now_ms())
    never = lifecycle_status(open_wire(client), STORE, 2)["done"]
    assert {kind: one["oldest"] for kind, one in never.items()} == {"upkeep": None, "daily": None}
    for partition, told in enumerate(("1767225600000 400", "1767229200000 1500")):
        client.hset(schedule_key(STORE), done_field("upkeep", partition), told)
    client.hset(schedule_key(STORE), done_field("extract", 0), "1767225600000 1")  # scheduled no more
    assert lifecycle_status(open_wire(client), STORE, 2)["done"] == never | {
        "upkeep": {
            "every_minutes": 60,
            "oldest": "2026-01-01T00:00:00Z",
            "newest": "2026-01-01T01:00:00Z",
            "waiting_since": never["upkeep"]["waiting_since"],
            "seconds": 1.5,
            "partitions": 2,
        }
    }


def test_status_tells_since_when_a_partition_waits_whose_job_never_ran(client: redis.Redis) -> None:
    scheduler = cron(client, "somebody", partitions=2, kinds={**KINDS, **usual(EXTRACT)})

    def waiting(kind: str) -> object:
        return lifecycle_status(open_wire(client), STORE, 2)["done"][kind]["waiting_since"]

    def ran(kind: str, partition: int, at: int) -> None:
        client.hset(schedule_key(STORE), done_field(kind, partition), f"{at} 1")

    scheduler.tend(NINE)
    scheduler.tend(NINE + HOUR)
    assert (waiting("upkeep"), waiting("daily"), waiting("extract")) == (told(NINE),) * 3
    ran("upkeep", 0, NINE + HOUR)
    assert waiting("upkeep") == told(NINE)  # the other one never had it done
    ran("upkeep", 1, NINE + 2 * HOUR)
    assert waiting("upkeep") == told(NINE + HOUR)
    scheduler.leave()
    another = cron(client, "another", partitions=2)
    another.tend(NINE + 3 * HOUR)  # extracts no more
    assert (waiting("upkeep"), waiting("daily")) == (told(NINE + HOUR), told(NINE))
    ran("extract", 0, NINE)
    ran("extract", 1, NINE)
    another.leave()
    cron(client, "third", partitions=2, kinds={**KINDS, **usual(EXTRACT)}).tend(NINE + DAY)
    assert waiting("extract") == told(NINE + DAY)  # what ran while it was scheduled once before says nothing of now


def told(ms: int) -> str:
    return utc_text(from_micros(ms * 1_000))


def test_status_tells_what_is_scheduled_beside_the_lifecycle_as_long_as_it_is(client: redis.Redis) -> None:
    beside = cron(client, "a", partitions=1, kinds={**KINDS, **usual(EXTRACT)})
    now = beside.now_ms()
    assert beside.tend(now) == 3
    (kind, told), *others = lifecycle_status(open_wire(client), STORE, 2)["beside"].items()
    assert (kind, told["every_minutes"], others) == ("extract", 0.17, [])
    assert told["last_tick"] < told["next_tick"]
    beside.leave()
    assert lifecycle_status(open_wire(client), STORE, 2)["beside"]["extract"]["next_tick"] is None
    cron(client, "b", partitions=1).tend(now + 1)
    assert lifecycle_status(open_wire(client), STORE, 2)["beside"] == {}


def test_without_its_redis_a_scheduler_says_so_and_goes_on_later(client: redis.Redis) -> None:
    lost = JobScheduler(connect("unix:///nowhere/at-all", timeout=1.0), STORE, 1, "a")
    with pytest.raises(StoreUnavailable):
        lost.tend(NINE)
    with pytest.raises(StoreUnavailable):
        lost.enqueue("upkeep", NINE)


def test_a_clock_that_once_ran_far_ahead_keeps_no_alarm_silent(client: redis.Redis) -> None:
    first = cron(client, "somebody", partitions=1)
    now = first.now_ms()
    first.tend(now + 100 * 365 * 86_400_000)
    first.leave()
    cron(client, "another", partitions=1).tend(now)
    assert lifecycle_status(open_wire(client), STORE, 1)["done"]["upkeep"]["waiting_since"] == utc_text(
        from_micros(now * 1_000)
    )
