"""The jobs of a store one by one: where each stands and why it failed, whatever somebody put into the queue's Redis."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Iterator

import pytest
import redis

from engramlog_server.consumers.jobs.queue import JobScheduler
from engramlog_server.consumers.jobs.run import KINDS
from engramlog_server.consumers.jobs.schedule import MOST_ERROR, MOST_JOBS, STOPPED, job_board, queue_name, schedule_key
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.shapes import JobBoard
from tests.servers import RedisServer

STORE = "6d0f3b1c-2f7e-4a52-9a3e-0d8c3c8b7f11"
PARTITIONS = 3
NOW = 1_795_676_400_000
"""2026-11-26 07:00, ms."""
NAME = queue_name(STORE)


@pytest.fixture
def client(server: RedisServer) -> Iterator[redis.Redis]:
    with server.client() as made:
        yield made


@pytest.fixture
def cron(server: RedisServer, client: redis.Redis) -> JobScheduler:
    made = JobScheduler(connect(server.url), STORE, PARTITIONS, "host-1-a")
    made.tend(NOW)
    return made


def board(client: redis.Redis) -> JobBoard:
    wire = open_wire(client)
    try:
        return job_board(wire, STORE, PARTITIONS)
    finally:
        wire.close()


def job(kind: str, partition: int) -> str:
    tick = "20261126T0000" if kind == "daily" else "20261126T0700"
    return f"{kind}-{STORE}-p{partition}-{tick}"


def fails(client: redis.Redis, name: str, trace: str, registry: str = "failed", score: float = NOW / 1_000) -> None:
    """As RQ writes it."""
    client.lrem(f"rq:queue:{NAME}", 0, name)
    client.zadd(f"rq:{registry}:{NAME}", {name: score})
    client.hset(f"rq:job:{name}", mapping={"ended_at": "2026-11-26T07:00:09.500000Z", "retries_left": "2"})
    client.xadd(f"rq:results:{name}", {"type": "2", "exc_string": b64encode(zlib.compress(trace.encode()))})


def test_what_is_scheduled_waits_and_every_kind_is_told(client: redis.Redis, cron: JobScheduler) -> None:
    told = board(client)
    assert (told["problem"], told["queued"], told["running"], told["again"], told["failed"]) == (None, 6, 0, 0, 0)
    assert [one["kind"] for one in told["kinds"]] == sorted(KINDS)
    upkeep = next(one for one in told["kinds"] if one["kind"] == "upkeep")
    assert (upkeep["every_minutes"], upkeep["queued"], upkeep["last_done"]) == (60, PARTITIONS, None)
    assert (upkeep["last_tick"], upkeep["done_partitions"]) == ("2026-11-26T07:00:00Z", 0)
    assert {one["id"] for one in told["jobs"]} == {job(kind, p) for kind in KINDS for p in range(PARTITIONS)}
    assert {(one["state"], one["error"], one["enqueued"] is None) for one in told["jobs"]} == {("queued", None, False)}


def test_a_job_that_failed_says_why_in_the_words_of_the_store(client: redis.Redis, cron: JobScheduler) -> None:
    words = "no connection to Redis (redis://ann:geheim@db:6379 refused); the same request can be sent again safely"
    trace = f'Traceback (most recent call last):\n  File "a.py", line 1\nevents.errors.StoreUnavailable: {words}\n'
    fails(client, job("upkeep", 1), trace)
    fails(client, job("daily", 0), trace, registry="scheduled", score=NOW / 1_000 + 30)
    again, failed = board(client)["jobs"][:2]
    assert (again["state"], again["next_try"], again["tries_left"]) == ("again", "2026-11-26T07:00:30Z", 2)
    assert (failed["state"], failed["kind"], failed["partition"], failed["next_try"]) == ("failed", "upkeep", 1, None)
    assert (failed["tick"], failed["ended"]) == ("2026-11-26T07:00:00Z", "2026-11-26T07:00:09.500000Z")
    assert failed["error"] is not None
    assert failed["error"].startswith("StoreUnavailable: no connection to Redis (redis://db:6379 refused)")
    assert "geheim" not in str(board(client))


@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ("ValueError: she said 我的密码是 hunter2", "ValueError"),
        ("engramlog_server.events.errors.InputError: content: got 'hunter2'; allowed: less", "InputError"),
        ("builtins.SystemExit: hunter2", "SystemExit"),
        ("Moved to FailedJobRegistry, due to AbandonedJobError, at 2026-11-29 01:02:03.456+00:00", "its worker died"),
        ("something that hunter2 said", "a job that failed without an error's name"),
        (
            "engramlog_server.events.errors.StoreFull: " + "x" * 5_000,
            "StoreFull: " + "x" * (MOST_ERROR - len("StoreFull: ")),
        ),
        ("", None),
    ],
)
def test_words_that_may_hold_what_somebody_said_are_not_told(
    client: redis.Redis, cron: JobScheduler, trace: str, told: str | None
) -> None:
    fails(client, job("upkeep", 0), trace)
    (failed,) = [one for one in board(client)["jobs"] if one["state"] == "failed"]
    assert failed["error"] == told or (
        told is not None and len(told) == MOST_ERROR and str(failed["error"])[:200] == told[:200]
    )
    assert "hunter2" not in str(failed)
    assert len(failed["error"] or "") <= MOST_ERROR


def test_why_a_kind_stopped_is_told_with_its_partitions(client: redis.Redis, cron: JobScheduler) -> None:
    for partition in (2, 0):
        client.hset(schedule_key(STORE), f"{STOPPED}upkeep:{partition}", "the model endpoint db did not answer")
    client.hset(schedule_key(STORE), f"{STOPPED}upkeep:1", "the key is wrong")
    upkeep = next(one for one in board(client)["kinds"] if one["kind"] == "upkeep")
    assert upkeep["stopped"] == [
        {"partitions": [0, 2], "reason": "the model endpoint db did not answer"},
        {"partitions": [1], "reason": "the key is wrong"},
    ]


def test_what_is_no_job_of_this_store_is_counted_and_not_shown(client: redis.Redis, cron: JobScheduler) -> None:
    strange = [
        *(b"\xff\xfe", b"", b"x" * 100_000, f"upkeep-{STORE}-p99-20261126T0700".encode()),
        *(b"upkeep-of-another-p0-20261126T0700", f"upkeep-{STORE}-p0-99999999T9999".encode()),
        f"eval-{STORE}-p0-20261126T0700".encode(),
    ]
    client.rpush(f"rq:queue:{NAME}", *strange)
    client.zadd(f"rq:failed:{NAME}", dict.fromkeys(strange, 1.0))
    told = board(client)
    assert (told["queued"], told["failed"], len(told["jobs"])) == (6 + len(strange), len(strange), 6)
    assert told["left_out"] == 2 * len(strange)


def test_fields_of_another_type_or_size_are_passed_over(client: redis.Redis, cron: JobScheduler) -> None:
    one, other = job("upkeep", 0), job("upkeep", 1)
    fails(client, one, "x")
    client.delete(f"rq:job:{one}", f"rq:results:{one}")
    client.set(f"rq:job:{one}", "no hash")
    client.set(f"rq:results:{one}", "no stream")
    fails(client, other, "x")
    client.hset(f"rq:job:{other}", mapping={"ended_at": "y" * 10_000_000, "started_at": "never", "retries_left": "-x"})
    client.xadd(f"rq:results:{other}", {"exc_string": "z" * 10_000_000})
    found = [told for told in board(client)["jobs"] if told["state"] == "failed"]
    assert [(told["ended"], told["started"], told["tries_left"], told["error"]) for told in found] == [(None,) * 4] * 2


def test_of_very_many_jobs_those_that_run_or_failed_come_first(client: redis.Redis, cron: JobScheduler) -> None:
    ids = {f"upkeep-{STORE}-p0-2026{month:02}{day:02}T0000": 1.0 for month in range(1, 13) for day in range(1, 29)}
    client.zadd(f"rq:failed:{NAME}", ids)  # type: ignore[arg-type]
    told = board(client)
    assert (len(told["jobs"]), {one["state"] for one in told["jobs"]}) == (MOST_JOBS, {"failed"})
    assert told["left_out"] == len(ids) + 6 - MOST_JOBS


def test_a_queue_that_does_not_answer_says_so_and_claims_nothing() -> None:
    told = board(connect("unix:///nowhere/at-all", timeout=1.0))
    assert (told["queued"], told["failed"], told["kinds"], told["jobs"], told["at"]) == (None, None, [], [], None)
    assert told["problem"]


@pytest.mark.parametrize("score", ["inf", "-inf", "1e308"])
def test_a_next_try_that_no_calendar_has_is_told_as_none(client: redis.Redis, cron: JobScheduler, score: str) -> None:
    fails(client, job("upkeep", 0), "x", registry="scheduled", score=float(score))
    (again,) = [one for one in board(client)["jobs"] if one["state"] == "again"]
    assert again["next_try"] is None


@pytest.mark.parametrize("number", ["9" * 60, "²", "٣", "-1"])
def test_numbers_that_nobody_counted_are_passed_over(client: redis.Redis, cron: JobScheduler, number: str) -> None:
    fails(client, job("upkeep", 0), "x")
    client.hset(f"rq:job:{job('upkeep', 0)}", "retries_left", number)
    client.hset(schedule_key(STORE), f"{STOPPED}upkeep:{number}", "the key is wrong")
    client.hset(schedule_key(STORE), f"{STOPPED}upkeep:1", "the model did not answer")
    told = board(client)
    (failed,) = [one for one in told["jobs"] if one["state"] == "failed"]
    assert failed["tries_left"] is None
    upkeep = next(one for one in told["kinds"] if one["kind"] == "upkeep")
    assert upkeep["stopped"] == [{"partitions": [1], "reason": "the model did not answer"}]
