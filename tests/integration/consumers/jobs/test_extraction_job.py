"""Extraction as a job: at least once from the queue, exactly once in effect, wherever it is killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest

from engramlog_server.api.exchange.turns import ImportOptions, import_turns
from engramlog_server.consumers.jobs.opened import JobResources, Lent
from engramlog_server.consumers.jobs.queue import JobValidator, JobWorker, lifecycle_queue, store_queue
from engramlog_server.consumers.jobs.run import FUNCTION, run, serving
from engramlog_server.consumers.jobs.schedule import done_field, lifecycle_status, schedule_key
from engramlog_server.events.alarms import OWNER_TOO_LARGE, Alarms, TellingAlarms
from engramlog_server.events.envelope import canonical, decode
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.models.chat import ModelAsked, ModelChat
from tests.doubles.model_endpoint import ModelEndpoint, limited, model_endpoint
from tests.doubles.model_reader import honest
from tests.given.alarms import KeptAlarms
from tests.integration.live import Live, live_store, wait_until
from tests.integration.ops.test_up import Up, get, running
from tests.patience import PATIENCE
from tests.servers import RedisServer

SAID = [
    "I live in Berlin. I love coffee.",
    "我喜欢爬山。",
    "I don't like coffee any more.",
    "I moved to Rome.",
    "I love opera. I love opera!",
    "我很喜欢爬山。",
    "I have two dogs. My favourite colour is green.",
]


@pytest.fixture
def live(server: RedisServer) -> Iterator[Live]:
    with live_store(server.url, partitions=1) as store:
        store.start_worker("folder")
        for owner in ("ada", "bo"):
            turns = (
                {"turn_id": f"t{n}", "occurred_at": f"2024-05-0{n + 1}T09:00:00Z", "speaker": "user", "text": text}
                for n, text in enumerate(SAID)
            )
            assert import_turns(store.log, map(canonical, turns), ImportOptions(owner=owner)).turns == len(SAID)
        wait_until(store.folded)  # a job reads what is folded
        yield store


def decided(live: Live, owner: str) -> list[Any]:
    """What extraction appended about an owner, in the order of the log: type, actor, time and data."""
    events = [decode(one.kind, one.body) for one in live.log.read(0, 0, 1_000) if one.owner == owner]
    mine = [one for one in events if one.actor == "judge" or one.type in ("MemoryMentioned", "TurnsExtracted")]
    assert all(one.causation_id for one in mine)
    told = [one for one in mine if one.type != "TurnsExtracted"]  # that is of the moment of the run
    assert sum(one.data.turns for one in mine if one.type == "TurnsExtracted") == len(SAID)
    return [(one.type, one.actor, one.occurred_at, str(getattr(one.data, "content", ""))) for one in told]


def test_the_job_reads_every_owner_and_its_second_run_finds_nothing(live: Live, server: RedisServer) -> None:
    served = JobResources(server.url, 10.0, lambda _fact, **_facts: None, Flag())
    with serving(served):
        first = run("extract", "test", 0, "tick")
        second = run("extract", "test", 0, "tock")
    assert isinstance(first, dict)
    assert (first["owners"], first["failed"]) == (2, 0)
    assert second == {"owners": 2, "decided": 0, "failed": 0}
    assert decided(live, "ada") == decided(live, "bo") != []


@pytest.mark.parametrize(("extraction", "kinds"), [("off", ["episode"]), ("rules", ["episode", "fact"])])
def test_up_has_turns_become_typed_memories_by_itself_only_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extraction: str, kinds: list[str]
) -> None:
    monkeypatch.setenv("ENGRAMLOG_EXTRACTION", extraction)
    monkeypatch.setenv("ENGRAMLOG_SUMMARIES", "off")
    line = {"turn_id": "t1", "occurred_at": "2024-05-01T09:00:00Z", "speaker": "user", "text": "I live in Berlin."}
    with open_application(Settings(data=tmp_path / "data")) as application:
        import_turns(application.log, [canonical(line)], ImportOptions(owner="ada"))
    with running(tmp_path / "data") as up:
        up.ready()
        found = wait_until(lambda: kept(up, len(kinds)))
        assert sorted(one["kind"] for one in found) == kinds
        lifecycle = wait_until(lambda: settled(get(up, "/v1/status")["lifecycle"]))
        assert ("extract" in lifecycle["beside"]) is (extraction == "rules")
        assert [fact["by"] for fact in up.facts("extraction chosen")] == ["rules"] * (extraction == "rules")


def settled(lifecycle: dict[str, Any]) -> dict[str, Any] | None:
    """The schedule, once the jobs of the first ticks are done."""
    return lifecycle if lifecycle["last_tick"] and not lifecycle["queued"] + lifecycle["running"] else None


def kept(up: Up, least: int) -> list[dict[str, Any]]:
    """Ada's memories, once there are so many."""
    found = get(up, "/v1/owners/ada/memories?mode=debug")["memories"]
    return found if len(found) >= least else []


def by_model(
    server: RedisServer, model: ModelEndpoint, tick: str, alarms: Alarms | None = None
) -> tuple[Any, list[tuple[str, dict[str, Any]]]]:
    """A run of the job with a model, and what it told."""
    told: list[tuple[str, dict[str, Any]]] = []
    with closing(ModelChat("scripted", url=model.url, tries=1, timeout=PATIENCE)) as chat:
        served = JobResources(
            server.url,
            10.0,
            lambda fact, **facts: told.append((fact, facts)),
            Flag(),
            chat=Lent(lambda: chat),
            extraction="model",
            seen={},
            alarms=alarms,
        )
        with serving(served):
            return run("extract", "test", 0, tick), told


def test_the_job_asks_the_model_for_every_owner_and_decides_once(live: Live, server: RedisServer) -> None:
    with model_endpoint() as model:
        model.answers(honest)
        first, _ = by_model(server, model, "tick")
        asked = len(model.asked)
        second, told = by_model(server, model, "tock")
    assert (first["owners"], first["failed"], asked) == (2, 0, 2)
    assert (second, told, len(model.asked)) == ({"owners": 2, "decided": 0, "failed": 0}, [], asked)
    assert decided(live, "ada") == decided(live, "bo") != []


def test_what_the_job_asks_a_model_is_counted_for_its_use(live: Live, server: RedisServer) -> None:
    told: list[ModelAsked] = []
    with model_endpoint() as model:
        model.answers(honest)
        with closing(ModelChat("scripted", url=model.url, tries=1, timeout=PATIENCE)) as chat:
            served = JobResources(
                server.url,
                10.0,
                lambda _fact, **_facts: None,
                Flag(),
                chat=Lent(lambda: chat),
                extraction="model",
                seen={},
            )
            with serving(served._replace(note=told.append)):
                run("extract", "test", 0, "tick")
        many = len(model.asked)
    assert {(one.model, one.use, one.failed) for one in told} == {("scripted", "extract", False)}
    assert sum(one.usage.requests for one in told) == many > 0


def test_a_model_that_is_down_ends_the_job_in_a_state_that_is_told_and_the_next_one_goes_on(
    live: Live, server: RedisServer
) -> None:
    with model_endpoint() as model:
        model.replies = [limited(after=3_600)]
        found, told = by_model(server, model, "tick")
        assert found == {"owners": 2, "decided": 0, "failed": 0}
        assert len(model.asked) == 1  # the second owner's turns are not asked about at all
        assert [fact for fact, _ in told] == ["extraction stopped"]
        assert "asks to wait 3600 s" in told[0][1]["reason"]
        model.answers(honest)
        by_model(server, model, "tock")
    assert decided(live, "ada") == decided(live, "bo") != []


def test_a_job_that_looks_at_nobody_more_ends_no_alarm_of_owners_who_are_too_large(
    live: Live, server: RedisServer
) -> None:
    alarms = KeptAlarms()
    alarms.raised(OWNER_TOO_LARGE, "partition 0", "left out: bo")
    with model_endpoint() as model:
        model.replies = [limited(after=3_600)]
        by_model(server, model, "tick", alarms)
    assert alarms.standing == {(OWNER_TOO_LARGE, "partition 0"): "left out: bo"}


def test_a_job_without_the_model_that_it_is_to_ask_says_which_setting_is_missing(
    live: Live, server: RedisServer
) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    served = JobResources(
        server.url, 10.0, lambda fact, **facts: told.append((fact, facts)), Flag(), extraction="model", seen={}
    )
    with serving(served):
        assert run("extract", "test", 0, "tick") == {"owners": 0, "decided": 0, "failed": 0}
    assert ["ENGRAMLOG_MODEL" in facts["reason"] for _, facts in told] == [True]


def worked(server: RedisServer, model: ModelEndpoint, *ticks: str) -> dict[str, str]:
    """What `status` says of jobs that stopped, after a job worker ran one each tick with the model."""
    client = connect(server.url)
    for tick in ticks:
        lifecycle_queue(client, "test").enqueue_call(FUNCTION, args=("extract", "test", 0, tick))
    with closing(ModelChat("scripted", url=model.url, tries=1, timeout=PATIENCE)) as chat:
        lent, stop = Lent(lambda: chat), Flag()
        served = JobResources(
            server.url, 10.0, lambda _fact, **_facts: None, stop, chat=lent, extraction="model", seen={}
        )
        with serving(served):
            door = JobValidator(client, "test", 1, TellingAlarms(served.tell))
            worker = JobWorker(store_queue(client, door, stop), f"test-{ticks[0]}", served.tell)
            worker.work(burst=True, logging_level="CRITICAL")
    try:
        return dict(lifecycle_status(open_wire(client), "test", 1)["stopped"])
    finally:
        client.close()


def test_a_job_that_asked_nobody_since_the_model_rests_did_not_run_through(live: Live, server: RedisServer) -> None:
    def done() -> bool:
        with closing(connect(server.url)) as client:
            return bool(client.hexists(schedule_key("test"), done_field("extract", 0)))

    with model_endpoint() as model:
        model.replies = [limited(after=3_600)]
        assert list(worked(server, model, "20260101T0000", "20260101T0005")) == ["extract"]
        assert (len(model.asked), done()) == (1, False)
        model.answers(honest)
        worked(server, model, "20260101T0010")
    assert done()
