"""A job worker that is told to end does, whatever its job is in the middle of, and the job is there for the next worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest
import redis
from rq.job import Job

from engramlog_server.consumers.jobs.queue import lifecycle_queue
from engramlog_server.consumers.jobs.run import FUNCTION
from engramlog_server.consumers.jobs.schedule import queue_name
from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.events.envelope import prepare
from engramlog_server.events.redis.server import connect
from engramlog_server.events.validation import make_event
from tests.doubles.model_endpoint import completion, model_endpoint
from tests.doubles.scripted import Asked, Reply
from tests.integration.live import Live, live_store, wait_until
from tests.integration.served import Served
from tests.servers import RedisServer, wheel_server

ENDLESS = 120
"""Seconds after which a test has failed; a worker that waits for its job would never end."""
COMPUTES = """
import sys
from pathlib import Path
from engramlog_server.consumers.jobs import run as jobs
from engramlog_server.ops.job_worker import main

def compute(opened, partition):
    Path(sys.argv[1]).touch()
    while True:
        pass

jobs.JOBS = {kind: job._replace(do=compute) for kind, job in jobs.JOBS.items()}
main(sys.argv[2:])
"""


@pytest.fixture
def live(server: RedisServer) -> Iterator[Live]:
    with live_store(server.url, partitions=1) as store:
        store.start_worker("folder")
        yield store


@contextmanager
def process(*command: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(
        [sys.executable, "-P", *command], env={**os.environ, **environment}, stderr=subprocess.PIPE
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def ended(worker: subprocess.Popen[bytes]) -> str:
    """What it logged by the time it had ended in order."""
    worker.send_signal(signal.SIGTERM)
    _, told = worker.communicate(timeout=ENDLESS)
    assert worker.returncode == 0, told.decode()
    return told.decode()


def enqueue(client: redis.Redis, kind: str = "upkeep") -> Job:
    """A job of the store `test`, for the worker that comes."""
    return lifecycle_queue(client, "test").enqueue_call(FUNCTION, args=(kind, "test", 0, "20260101T0000"))


def running(client: redis.Redis) -> int:
    return int(client.zcard(f"rq:wip:{queue_name('test')}"))  # type: ignore[arg-type]


def given_back(client: redis.Redis) -> bool:
    """Whether the job that ran waits in the queue again, and no worker is said to live."""
    name = queue_name("test")
    waiting = [client.hget(f"rq:job:{job.decode()}", "status") for job in client.lrange(f"rq:queue:{name}", 0, -1)]  # type: ignore[union-attr]
    back = bool(waiting) and set(waiting) == {b"queued"}
    return back and running(client) == 0 and not client.smembers(f"rq:workers:{name}")


def test_a_worker_whose_job_computes_without_end_ends_and_gives_the_job_back(
    live: Live, server: RedisServer, tmp_path: Path
) -> None:
    began = tmp_path / "began"
    with connect(server.url) as client, process("-c", COMPUTES, str(began), "--url", server.url) as worker:
        enqueue(client)
        wait_until(began.exists)
        assert "job returned" in ended(worker)
        assert given_back(client)
        served = Served(live, server.url)
        served.work()
        assert client.llen(f"rq:queue:{queue_name('test')}") == 0
        assert client.zcard(f"rq:failed:{queue_name('test')}") == 0
        served.queue.connection.close()


def test_a_worker_whose_job_waits_for_a_model_ends_before_the_model_answers(live: Live, server: RedisServer) -> None:
    held = Event()

    def hold(_asked: Asked) -> Reply:
        held.wait(ENDLESS)
        return completion({"content": "{}"})

    live.append(live.created("ada", "m"))
    with connect(server.url) as client, model_endpoint() as model:
        model.replies = [hold]
        settings = {"ENGRAMLOG_MODEL": "held", "ENGRAMLOG_MODEL_URL": model.url, "ENGRAMLOG_EXTRACTION": "model"}
        tell_a_turn(live)
        with process("-m", "engramlog_server.ops.job_worker", "--url", server.url, **settings) as worker:
            enqueue(client, "extract")
            wait_until(model.came.is_set)
            ended(worker)
            assert not held.is_set()
            assert given_back(client)
        held.set()


def tell_a_turn(live: Live) -> None:
    """Something for a model to read."""
    data = TurnRecorded(turn_id="t1", role="user", text="I moved to Lisbon in May and work as a baker there.")
    when = datetime(2026, 1, 1, tzinfo=UTC)
    live.append(prepare(make_event(data, owner="ada", occurred_at=when, actor="user", now=live.log.now())))
    wait_until(live.folded)


def test_a_worker_ends_while_the_store_s_redis_does_not_answer_its_job(live: Live, server: RedisServer) -> None:
    queues = RedisServer(wheel_server())
    store = RedisServer(wheel_server())
    try:
        with live_store(store.url, partitions=1), queues.client() as client:
            addresses = ("--url", store.url, "--queue-url", queues.url)
            with process("-m", "engramlog_server.ops.job_worker", *addresses) as worker:
                enqueue(client)
                wait_until(lambda: client.zcard(f"rq:finished:{queue_name('test')}"))
                store.process.send_signal(signal.SIGSTOP)
                enqueue(client)
                wait_until(lambda: running(client))
                ended(worker)
                assert given_back(client)
                store.process.send_signal(signal.SIGCONT)
    finally:
        store.process.send_signal(signal.SIGCONT)
        store.stop()
        queues.stop()


def test_a_worker_ends_while_nothing_answers_it(live: Live) -> None:
    store = RedisServer(wheel_server())
    try:
        with live_store(store.url, partitions=1), store.client() as client:
            with process("-m", "engramlog_server.ops.job_worker", "--url", store.url) as worker:
                enqueue(client)
                wait_until(lambda: client.zcard(f"rq:finished:{queue_name('test')}"))
                store.process.send_signal(signal.SIGSTOP)
                ended(worker)
            store.process.send_signal(signal.SIGCONT)
    finally:
        store.process.send_signal(signal.SIGCONT)
        store.stop()


def test_a_worker_with_nothing_to_do_ends_in_order(live: Live, server: RedisServer) -> None:
    with connect(server.url) as client, process("-m", "engramlog_server.ops.job_worker", "--url", server.url) as worker:
        wait_until(lambda: client.smembers(f"rq:workers:{queue_name('test')}"))
        wait_until(lambda: not client.llen(f"rq:queue:{queue_name('test')}") and not running(client))
        assert "job worker stopped" in ended(worker)
        assert not client.smembers(f"rq:workers:{queue_name('test')}")


def test_a_worker_goes_on_after_its_queue_was_away_and_ends_while_it_is(live: Live, server: RedisServer) -> None:
    queues = RedisServer(wheel_server())
    addresses = ("--url", server.url, "--queue-url", queues.url, "--timeout", "1", "--json")
    finished = f"rq:finished:{queue_name('test')}"
    try:
        with queues.client() as client, process("-m", "engramlog_server.ops.job_worker", *addresses) as worker:
            enqueue(client)
            wait_until(lambda: client.zcard(finished))
            client.client_kill_filter(_type="normal", skipme=True)
            queues.process.send_signal(signal.SIGSTOP)
            assert worker.stderr is not None
            assert any(b'"rq reported"' in line for line in worker.stderr)
            queues.process.send_signal(signal.SIGCONT)
            job = enqueue(client)
            wait_until(lambda: client.zscore(finished, job.id))
            queues.process.send_signal(signal.SIGSTOP)
            ended(worker)
    finally:
        queues.process.send_signal(signal.SIGCONT)
        queues.stop()
