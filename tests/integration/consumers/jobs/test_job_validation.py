"""The job queue's door: whatever somebody puts into Redis, a worker runs the one job function, or nothing."""

from __future__ import annotations

import json
import pickle
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from rq import Callback, Queue, Retry
from rq.job import Job
from rq.registry import FailedJobRegistry, FinishedJobRegistry
from rq.webhook import Webhook

from engramlog_server.consumers.jobs.queue import (
    FAILED_SECONDS,
    MOST_ID,
    SHOWN,
    SUBJECTS,
    JobScheduler,
    lifecycle_queue,
)
from engramlog_server.consumers.jobs.run import FUNCTION
from engramlog_server.consumers.jobs.schedule import REFUSED, lifecycle_status, schedule_key
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import WirePool, open_wire
from tests.integration.live import Live, live_store, wait_until
from tests.integration.served import Served, job_worker, scheduled
from tests.servers import RedisServer

PARTITIONS = 4
TICK = "20260101T0000"
GOOD = ("upkeep", "test", 0, TICK)
HUGE = 100_000_000


@pytest.fixture
def live(server: RedisServer) -> Iterator[Live]:
    with live_store(server.url, partitions=PARTITIONS) as store:
        store.start_worker("folder")
        yield store


@pytest.fixture
def served(live: Live, server: RedisServer) -> Iterator[Served]:
    made = Served(live, server.url)
    yield made
    made.queue.connection.close()


@pytest.fixture
def client(served: Served) -> redis.Redis:
    return served.queue.connection


def queue_of(client: redis.Redis) -> Queue:
    """The queue as anybody with RQ has it."""
    return lifecycle_queue(client, "test")


def enqueue(client: redis.Redis, function: Any = FUNCTION, args: Any = GOOD, **options: Any) -> Job:
    return queue_of(client).enqueue_call(function, args=args, **options)


def count(client: redis.Redis) -> int:
    return int(client.hget(schedule_key("test"), REFUSED) or 0)  # type: ignore[arg-type]


def reasons(served: Served) -> list[str]:
    return [text for name, _, text in served.alarms if name == "job_refused"]


def finished(client: redis.Redis) -> int:
    return int(client.zcard(f"rq:finished:{queue_of(client).name}"))  # type: ignore[arg-type]


class Marker:
    """Something to be run, that leaves a file where it was."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "it-ran"


@pytest.fixture
def trap(tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module whose import leaves the marker, and a function in it."""
    (tmp_path / "a_trap.py").write_text(f"open({str(marker)!r}, 'w').close()\ndef spring(*_, **__):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sys.modules.pop("a_trap", None)
    return "a_trap.spring"


def test_a_worker_process_runs_its_own_jobs_and_nothing_that_others_put_into_the_queue(
    live: Live, server: RedisServer, marker: Path, trap: str
) -> None:
    client = connect(server.url)
    enqueue(client, "os.system", (f"touch {marker}",))
    enqueue(client, trap, ())
    for name in ("on_success", "on_failure", "on_stopped"):
        enqueue(client, **{name: Callback(trap)})
    pickled = enqueue(client)
    client.hset(pickled.key, "data", zlib.compress(pickle.dumps(Marker(marker))))
    client.hset(enqueue(client).key, mapping={"meta": pickle.dumps(Marker(marker))})
    with scheduled(server.url, partitions=PARTITIONS), job_worker(server.url):
        wait_until(lambda: count(client) == 7 and finished(client) >= 2 * PARTITIONS)
    assert not marker.exists()
    assert lifecycle_status(open_wire(client), "test", 1)["refused"] == 7
    alarms = RedisAlarms(WirePool(client), "test", lambda _fact, **_facts: None)
    assert [(alarm.name, alarm.count) for alarm in alarms.standing()] == [("job_refused", 1)] * 7
    client.close()


def field(name: str, value: Any) -> Callable[[redis.Redis], None]:
    """A good job, one field of which was changed."""

    def put(client: redis.Redis) -> None:
        client.hset(enqueue(client).key, name, value)

    return put


def called(*data: Any) -> Callable[[redis.Redis], None]:
    """A job whose data is this."""
    return field("data", zlib.compress(json.dumps(data).encode()))


def with_arguments(*arguments: Any) -> Callable[[redis.Redis], None]:
    return called(FUNCTION, None, list(arguments), {})


BAD: dict[str, tuple[Callable[[redis.Redis], None], str]] = {
    "another function": (called("os.system", None, ["true"], {}), "another function"),
    "a method of something": (called("run", {"py/object": "os"}, list(GOOD), {}), "another function"),
    "the module alone": (called("engramlog_server.consumers.jobs.run", None, list(GOOD), {}), "another function"),
    "a function that is a number": (called(7, None, list(GOOD), {}), "another function"),
    "named arguments": (called(FUNCTION, None, list(GOOD), {"kind": "daily"}), "its arguments"),
    "too few arguments": (with_arguments("upkeep", "test", 0), "its arguments"),
    "an unknown kind": (with_arguments("dance", "test", 0, TICK), "its kind is none of upkeep, daily"),
    "a kind that is a list": (with_arguments(["upkeep"], "test", 0, TICK), "its kind is none of"),
    "another store": (with_arguments("upkeep", "another", 0, TICK), "another store"),
    "a partition too many": (with_arguments("upkeep", "test", PARTITIONS, TICK), "from 0 to 3"),
    "a partition below none": (with_arguments("upkeep", "test", -1, TICK), "from 0 to 3"),
    "a partition that is true": (with_arguments("upkeep", "test", True, TICK), "from 0 to 3"),
    "a partition in words": (with_arguments("upkeep", "test", "0", TICK), "from 0 to 3"),
    "a tick of a million characters": (
        with_arguments("upkeep", "test", 0, "1" * 1_000_000),
        "its data unpacks to more",
    ),
    "a tick that is none": (with_arguments("upkeep", "test", 0, "now"), "its tick"),
    "no list": (field("data", zlib.compress(b'"run"')), "its data is no call"),
    "deep brackets": (field("data", zlib.compress(b"[" * 4_000)), "its data is not packed JSON"),
    "a bomb": (field("data", zlib.compress(b" " * 3_000_000)), "unpacks to more than 4096 bytes"),
    "pickle": (field("data", zlib.compress(pickle.dumps(GOOD))), "its data is not packed JSON"),
    "not packed": (field("data", b"[]"), "its data is not packed JSON"),
    "no data": (field("data", b""), "its data is not packed JSON"),
    "a hundred megabytes": (field("data", b"x" * HUGE), f"data has {HUGE} bytes"),
    "a huge number": (field("retries_left", b"9" * 50), "retries_left is no whole number"),
    "a timeout in words": (field("timeout", "1h"), "timeout is no whole number"),
    "a status that RQ has not": (field("status", "dancing"), "its status"),
    "another queue": (field("origin", "default"), "another queue"),
    "a time that is none": (field("enqueued_at", "now"), "enqueued_at is no time"),
    "a callback": (field("success_callback_name", "os.abort"), "it has success_callback_name"),
    "another callback": (field("failure_callback_name", "os.abort"), "it has failure_callback_name"),
    "a third callback": (field("stopped_callback_name", "os.abort"), "it has stopped_callback_name"),
    "something pickled beside it": (field("meta", pickle.dumps({})), "it has meta"),
    "a web address to call": (
        lambda client: enqueue(client, webhooks=[Webhook("http://127.0.0.1:9/", "finished")]) and None,
        "it has webhooks",
    ),
    "a job to wait for": (field("dependency_ids", '["another"]'), "it has dependency_ids"),
    "a group": (field("group_id", "g"), "it has group_id"),
    "a rate limit": (field("rate_limit_key", "k"), "it has rate_limit_key"),
    "a repetition": (field("repeats_left", "9"), "it has repeats_left"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_job_of_ours_is_taken_out_told_and_counted_and_the_next_job_goes_on(
    served: Served, client: redis.Redis, what: str
) -> None:
    put, reason = BAD[what]
    put(client)
    (bad,) = queue_of(client).job_ids
    enqueue(client, job_id="good")
    answered = client.info("stats")["total_net_output_bytes"]
    served.work()
    assert client.info("stats")["total_net_output_bytes"] - answered < 1_000_000
    assert [told for told in reasons(served) if reason in told] == reasons(served)
    assert [subject for _, subject, _ in served.alarms] == [bad]
    assert (count(client), client.exists(f"rq:job:{bad}"), finished(client)) == (1, 0, 1)
    assert queue_of(client).count == client.llen(served.queue.intermediate_queue_key) == 0


def test_a_job_that_an_earlier_release_put_into_the_queue_is_dropped_with_a_line_and_no_alarm(
    served: Served, client: redis.Redis
) -> None:
    enqueue(client, args=("links", *GOOD[1:]), job_id="links-1")
    enqueue(client)
    served.work()
    assert [(fact, facts["job"]) for fact, facts in served.told if fact == "job dropped"] == [
        ("job dropped", "links-1")
    ]
    assert (served.alarms, count(client), client.exists("rq:job:links-1"), finished(client)) == ([], 0, 0, 1)
    assert queue_of(client).count == client.llen(served.queue.intermediate_queue_key) == 0


def test_a_job_of_a_former_kind_is_read_as_strictly_as_any_other(served: Served, client: redis.Redis) -> None:
    with_arguments("links", "another", 0, TICK)(client)
    enqueue(client, args=("links", *GOOD[1:]), on_success=Callback("os.abort"))
    served.work()
    assert reasons(served) == ["it is about another store", "it has success_callback_name"]


def test_an_id_that_can_be_none_is_refused_and_told_in_plain_letters(served: Served, client: redis.Redis) -> None:
    ids = [b"\x1b[2Jred", b"\xff\xfe", b"a:b", b"", b"x" * HUGE]
    client.rpush(served.queue.key, *ids)
    enqueue(client)
    answered = client.info("stats")["total_net_output_bytes"]
    served.work()
    assert client.info("stats")["total_net_output_bytes"] - answered < 1_000_000
    told = [subject for _, subject, _ in served.alarms]
    assert told == ["??2Jred", "??", "a?b", "(empty)", "x" * SHOWN]
    assert max(len(name) for name in told) <= MOST_ID
    assert (count(client), finished(client)) == (5, 1)


def test_thousands_of_bad_jobs_keep_no_good_one_waiting_and_fill_no_log(served: Served, client: redis.Redis) -> None:
    with client.pipeline() as pipeline:
        for n in range(3_000):
            pipeline.hset(f"rq:job:bad-{n}", "data", "x" * 100)
            pipeline.rpush(served.queue.key, f"bad-{n}")
        pipeline.execute()
    enqueue(client)
    served.work()
    assert (count(client), finished(client), queue_of(client).count) == (3_000, 1, 0)
    assert len({subject for _, subject, _ in served.alarms}) == SUBJECTS + 1
    assert {text for _, subject, text in served.alarms if not subject} == {"many more: `engramlog status` counts them"}
    assert not list(client.scan_iter("rq:job:bad-*"))


@pytest.mark.parametrize("kind", ["string", "list", "set", "zset", "stream"])
def test_a_job_whose_key_holds_another_type_is_refused(served: Served, client: redis.Redis, kind: str) -> None:
    another(client, "rq:job:odd", kind)
    client.rpush(served.queue.key, "odd")
    enqueue(client)
    served.work()
    assert reasons(served) == [f"its key holds a {kind}, no hash"]
    assert (client.exists("rq:job:odd"), finished(client)) == (0, 1)


def another(client: redis.Redis, key: str, kind: str) -> None:
    """A key of another type than what should be there."""
    client.delete(key)
    match kind:
        case "string":
            client.set(key, "odd")
        case "list":
            client.rpush(key, "odd")
        case "set":
            client.sadd(key, "odd")
        case "zset":
            client.zadd(key, {"odd": 1})
        case _:
            client.xadd(key, {"odd": "odd"})


@pytest.mark.parametrize("key", ["queue:{}", "queue:{}:intermediate", "wip:{}", "scheduled:{}", "failed:{}"])
def test_a_key_of_the_queue_that_holds_another_type_stops_no_job(served: Served, client: redis.Redis, key: str) -> None:
    another(client, f"rq:{key.format(queue_of(client).name)}", "set")
    served.work()
    enqueue(client)
    served.work()
    assert finished(client) == 1


@pytest.mark.parametrize("lie", [10**17, -1, 0])
def test_times_that_lie_neither_keep_a_job_running_nor_its_result_for_ever(
    served: Served, client: redis.Redis, lie: int
) -> None:
    job = enqueue(client)
    client.hset(job.key, mapping={"timeout": lie, "result_ttl": lie, "failure_ttl": lie, "ttl": lie})
    served.work()
    assert finished(client) == 1
    assert 0 < client.ttl(job.key) <= FAILED_SECONDS  # type: ignore[operator]
    assert reasons(served) == []


def test_a_job_whose_worker_died_calls_nobody_and_is_refused_where_it_is_none_of_ours(
    served: Served, client: redis.Redis, marker: Path, trap: str
) -> None:
    for name, function in (("ours", FUNCTION), ("other", trap), ("calls", FUNCTION)):
        calls = {"on_failure": Callback(trap)} if name == "calls" else {}
        job = enqueue(client, function, job_id=name, retry=Retry(max=3, interval=60), **calls)
        client.hset(job.key, "status", "started")
        client.lrem(served.queue.key, 0, name)
        client.zadd(f"rq:wip:{served.queue.name}", {f"{name}:run": 1})
    client.zadd(f"rq:wip:{served.queue.name}", {"no-run": 1, b"\xff": 1, b"y" * 1_000_000: 1})
    served.work()
    assert not marker.exists()
    assert sorted(reasons(served)) == [
        "it has failure_callback_name",
        "it names another function than the one job function",
    ]
    assert client.zcard(f"rq:wip:{served.queue.name}") == 0
    assert client.zrange(f"rq:scheduled:{served.queue.name}", 0, -1) == [b"ours"]


def test_a_job_to_be_tried_again_is_read_as_strictly_as_a_new_one(
    served: Served, client: redis.Redis, marker: Path, trap: str
) -> None:
    enqueue(client, trap, (), job_id="other")
    client.lrem(served.queue.key, 0, "other")
    client.zadd(f"rq:scheduled:{served.queue.name}", {"other": 1, "gone": 1, b"\xff": 1})
    served.work()
    assert reasons(served) == ["it names another function than the one job function"]
    assert client.zcard(f"rq:scheduled:{served.queue.name}") == 0
    assert not marker.exists()


def test_a_job_that_a_worker_took_and_died_with_comes_back(
    served: Served, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue(client, job_id="lost")
    client.lmove(served.queue.key, served.queue.intermediate_queue_key, "LEFT", "RIGHT")
    served.work()
    assert finished(client) == 0
    monkeypatch.setattr("rq.intermediate_queue.IntermediateQueue.should_be_cleaned_up", lambda *_: True)
    served.work()
    assert finished(client) == 1


def test_groups_dependents_limits_and_commands_that_stand_in_redis_are_not_looked_at(
    served: Served, client: redis.Redis, marker: Path, trap: str
) -> None:
    """RQ's group housekeeping unpickles, whatever serializer a worker has."""
    client.hset("rq:job:member", mapping={"data": b"x", "meta": pickle.dumps(Marker(marker)), "status": "queued"})
    client.sadd("rq:groups", "g")
    client.sadd("rq:group:g", "member")
    client.sadd("rq:rl-keys", "k")
    client.zadd("rq:rl:k:rate_limited", {"member": 1})
    good = enqueue(client)
    waiting = Queue("elsewhere", connection=client, serializer="json").enqueue_call(trap, depends_on=good)
    client.set("rq:suspended", 1)
    served.work()
    assert finished(client) == 1
    assert client.llen("rq:queue:elsewhere") == 0
    assert waiting.get_status() == "deferred"
    assert not marker.exists()
    client.delete("rq:suspended")


def test_a_worker_listens_to_no_channel(live: Live, server: RedisServer) -> None:
    with connect(server.url) as client, job_worker(server.url):
        wait_until(lambda: client.smembers(f"rq:workers:{queue_of(client).name}"))
        assert client.pubsub_channels() == []


def test_the_scheduler_s_own_jobs_are_all_let_in(live: Live, served: Served, client: redis.Redis) -> None:
    scheduler = JobScheduler(client, "test", PARTITIONS, "scheduler")
    assert scheduler.tend(scheduler.now_ms()) == 2 * PARTITIONS
    served.work()
    assert FinishedJobRegistry(queue=served.queue).count == 2 * PARTITIONS  # type: ignore[no-untyped-call]
    assert FailedJobRegistry(queue=served.queue).count == 0  # type: ignore[no-untyped-call]
    assert reasons(served) == []
