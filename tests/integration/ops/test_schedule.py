"""Job workers of an `up` run while there is anything for them to do: the schedule is kept without them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event as Flag

import pytest

from engramlog_server.consumers.jobs.episodes import OFF
from engramlog_server.consumers.jobs.opened import JobResources
from engramlog_server.consumers.jobs.queue import JobValidator, JobWorker, store_queue
from engramlog_server.consumers.jobs.run import kinds_of, serving
from engramlog_server.consumers.jobs.schedule import has_work, lifecycle_status, queue_name
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.processes import workers as schedules
from engramlog_server.ops.processes.workers import JobSchedule
from engramlog_server.ops.settings import Settings
from tests.given.alarms import KeptAlarms
from tests.integration.live import Live, wait_until
from tests.integration.ops.test_up import running
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.servers import RedisServer

HEAVY = {"numpy", "rich", "typer", "fastapi", "starlette", "uvicorn", "rq", "networkx", "mcp", "prometheus_client"}
"""What a fold worker has no use for: the least of them takes four megabytes of each."""


class Alarms:
    """Hears no alarm."""

    def raised(self, *_told: object) -> None:
        raise AssertionError(_told)

    cleared = raised


def emptied(live: Live) -> str:
    """The queue's name, once every job of the first ticks was in it but judging, which finds nothing new. They are
    taken out."""
    name = f"rq:queue:{queue_name(live.identity.store_id)}"
    wait_until(lambda: live.client.llen(name) == (len(kinds_of(OFF, "extractive", embed_minutes=None)) - 1) * 2)
    live.client.delete(name)
    return name


@pytest.fixture
def live(redis_server: RedisServer) -> Live:
    return Live(redis_server.url, partitions=2)


@pytest.fixture
def made(live: Live, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobSchedule]:
    monkeypatch.setattr(schedules, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(schedules, "REST_SECONDS", 0.0)
    schedule = JobSchedule(redis_server.url, live.identity, Settings(), lambda *_told, **_facts: None, KeptAlarms())
    schedule.start()
    yield schedule
    schedule.stop(PATIENCE)


def works(live: Live, url: str) -> None:
    """Run every job that waits."""
    validator = JobValidator(live.client, live.identity.store_id, live.log.partitions, Alarms())
    served = JobResources(url, 10.0, lambda *_told, **_facts: None, Flag())
    with serving(served):
        JobWorker(store_queue(live.client, validator, Flag()), "w", served.tell).work(
            burst=True, logging_level="CRITICAL"
        )


def test_job_workers_are_wanted_until_every_job_is_done_and_again_once_one_waits(
    made: JobSchedule, live: Live, redis_server: RedisServer
) -> None:
    live.start_worker("w")
    status = wait_until(
        lambda: (told := lifecycle_status(open_wire(live.client), live.identity.store_id, 2))["queued"] and told
    )
    assert status["leader"]
    assert not made.rests
    works(live, redis_server.url)
    wait_until(lambda: made.rests)
    live.client.rpush(f"rq:queue:{queue_name(live.identity.store_id)}", "one more")
    wait_until(lambda: not made.rests)
    live.stop_worker("w")


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("rq:queue:{}", ["one"], True),
        ("rq:queue:{}:intermediate", ["one"], True),
        ("rq:wip:{}", {"one": 9e12}, True),
        ("rq:scheduled:{}", {"due": 999}, True),
        ("rq:scheduled:{}", {"later": 5_000}, False),
        ("rq:failed:{}", {"one": 5_000}, False),
    ],
    ids=["waits", "on its way", "runs", "tried again by now", "later", "failed for good"],
)
def test_what_a_job_worker_has_to_see_to(
    live: Live, key: str, value: list[str] | dict[str, float], wanted: bool
) -> None:
    name = key.format(queue_name("test"))
    assert not has_work(open_wire(live.client), "test", 1_000_000)
    if isinstance(value, list):
        live.client.rpush(name, *value)
    else:
        live.client.zadd(name, value)
    assert has_work(open_wire(live.client), "test", 1_000_000) is wanted


def test_whoever_cannot_tell_whether_there_is_work_lets_workers_look(made: JobSchedule, live: Live) -> None:
    name = emptied(live)
    wait_until(lambda: made.rests)
    live.client.set(name, "no list")
    wait_until(lambda: not made.rests)
    live.client.delete(name)
    wait_until(lambda: made.rests)


def test_without_job_workers_nothing_is_scheduled(live: Live, redis_server: RedisServer) -> None:
    schedule = JobSchedule(
        redis_server.url, live.identity, Settings(job_workers=0), lambda *_told, **_facts: None, KeptAlarms()
    )
    schedule.start()
    schedule.stop(PATIENCE)
    assert not schedule.rests
    assert lifecycle_status(open_wire(live.client), live.identity.store_id, 2)["leader"] is None


def test_where_jobs_are_due_every_minute_job_workers_stay(
    made: JobSchedule, live: Live, redis_server: RedisServer
) -> None:
    embeds = JobSchedule(
        redis_server.url, live.identity, Settings(embedder="minilm"), lambda *_told, **_facts: None, KeptAlarms()
    )
    emptied(live)
    wait_until(lambda: made.rests)
    embeds.start()
    wait_until(lambda: embeds._nothing_since)
    assert not embeds.rests
    embeds.stop(PATIENCE)


def test_another_schedule_leads_at_once_when_one_ends(made: JobSchedule, live: Live, redis_server: RedisServer) -> None:
    store_id = live.identity.store_id
    wait_until(lambda: lifecycle_status(open_wire(live.client), store_id, 2)["leader"])
    made.stop(PATIENCE)
    assert lifecycle_status(open_wire(live.client), store_id, 2)["leader"] is None


def test_an_idle_up_runs_no_job_worker_and_keeps_the_schedule(tmp_path: Path) -> None:
    with running(tmp_path / "store") as up:
        up.ready()
        worker = up.facts("job worker process started")[0]["pid"]
        wait_until(lambda: up.facts("job worker processes paused"))
        assert not Path(f"/proc/{worker}").exists()
        assert up.facts("job worker process died") == []
        assert up.run("status")["lifecycle"]["leader"]


def test_a_fold_worker_loads_nothing_that_only_others_need() -> None:
    script = "import json, sys, engramlog_server.ops.worker; print(json.dumps([*sys.modules]))"
    ran = subprocess.run([sys.executable, "-P", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert HEAVY & set(json.loads(ran.stdout)) == set()
