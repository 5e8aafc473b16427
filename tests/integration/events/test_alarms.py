"""What stands still is told on every face, and no more once it folds again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.alarms import ACCESSES_LOST, ConditionAlarm
from engramlog_server.events.catalogue import EventDiscarded
from engramlog_server.events.errors import StoreUnavailable
from engramlog_server.events.redis.wire import Wire
from engramlog_server.projections.redis.builds import BuildKeys
from tests.given.alarms import KeptAlarms
from tests.given.http import created, http_store, mentioned
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer

OWNER = "alice"


def _records(live: Live, partition: int) -> str:
    return BuildKeys(
        live.identity.tags[partition], live.client.hget(f"{{{live.identity.tags[partition]}}}:meta", "live").decode()
    ).records(OWNER)  # type: ignore[union-attr]


def test_a_partition_that_stands_still_alarms_and_the_alarm_ends_when_it_folds_again(redis_server: RedisServer) -> None:
    live, alarms = Live(redis_server.url, partitions=1), KeptAlarms()
    try:
        live.start_worker("first")
        live.append(live.created(OWNER, "tea"))
        wait_until(live.folded)
        live.stop_worker("first")
        key = _records(live, 0)
        whole = live.client.hget(key, "tea")
        live.client.hset(key, "tea", b"\xc1")
        live.start_worker("second", alarms=alarms)
        live.append(live.mentioned(OWNER, "tea"))
        wait_until(lambda: alarms.standing)
        raised = set(alarms.standing)
        live.client.hset(key, "tea", whole)  # type: ignore[arg-type]
        wait_until(live.folded)
        wait_until(lambda: not alarms.standing)
    finally:
        live.close()
    assert raised == {("state_damaged", "partition 0")}


def test_an_alarm_is_told_by_status_ready_and_metrics_until_it_is_cleared(tmp_path: Path) -> None:
    with http_store(tmp_path) as stage:
        before = stage.client.get("/ready")
        stage.store.alarms.raised("state_damaged", "partition 999", "the record of tea cannot be read")
        ready, status = stage.client.get("/ready"), stage.client.get("/v1/status").json()
        metrics = stage.client.get("/metrics").text
        cleared = stage.client.post(
            "/v1/alarms/clear", json={"name": "state_damaged", "subject": "partition 999"}
        ).json()
        after = stage.client.get("/ready")
    assert (before.status_code, ready.status_code, after.status_code) == (200, 503, 200)
    assert [alarm["name"] for alarm in ready.json()["alarms"]] == ["state_damaged"]
    assert [(alarm["name"], alarm["text"]) for alarm in status["alarms"]] == [
        ("state_damaged", "the record of tea cannot be read")
    ]
    assert 'engramlog_alarms{name="state_damaged",severity="stopped"} 1.0' in metrics
    assert (cleared["cleared"], cleared["alarms"]) == (True, [])


def test_an_alarm_cleared_over_http_leaves_a_line_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str]] = []
    with http_store(tmp_path) as stage:
        stage.store.alarms.raised("job_refused", "a queue", "x")
        monkeypatch.setattr(
            stage.store.alarms, "_tell", lambda fact, **facts: told.append((fact, facts.get("face", "")))
        )
        assert stage.client.post("/v1/alarms/clear", json={"name": "job_refused"}).json()["cleared"]
    assert told == [("alarm acknowledged", "http")]


def test_an_alarm_that_nobody_knows_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with http_store(tmp_path) as stage:
        refused = stage.client.post("/v1/alarms/clear", json={"name": "state_damagd"})
    assert (refused.status_code, refused.json()["field"]) == (422, "name")
    assert "state_damaged" in refused.json()["allowed"]


def test_questions_are_answered_while_an_alarm_stands(tmp_path: Path) -> None:
    with http_store(tmp_path) as stage:
        stage.store.alarms.raised("state_damaged", "partition 3", "x")
        stage.told(OWNER, created("tea", "I drink green tea"), mentioned("tea"))
        found = stage.client.get(f"/v1/owners/{OWNER}/search", params={"query": "green tea"}).json()
    assert [row["id"] for row in found["results"]] == ["tea"]


def test_accesses_that_were_lost_are_counted_by_status_metrics_and_an_alarm_and_the_service_stays_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_store(tmp_path) as stage:
        stage.told(OWNER, created("coffee", owner=OWNER))
        there = f"/v1/owners/{OWNER}/search"
        stage.client.get(there, params={"query": "coffee"}).raise_for_status()
        stage.application.writer.settle(stage.application.accesses.flush())
        before = stage.client.get("/v1/status").json()["accesses"]
        with monkeypatch.context() as broken:
            broken.setattr(stage.application.log, "append", _refuse)
            for _ in range(3):
                stage.client.get(there, params={"query": "coffee"}).raise_for_status()
            stage.application.accesses.flush()
        stage.client.get(there, params={"query": "coffee"}).raise_for_status()
        status, ready = stage.client.get("/v1/status").json(), stage.client.get("/ready")
        metrics = stage.client.get("/metrics").text
        cleared = stage.client.post("/v1/alarms/clear", json={"name": ACCESSES_LOST}).json()
        after = stage.client.get("/v1/status").json()["accesses"]
    assert before == {"recorded": 1, "blocks": 0, "waiting": 0, "dropped": 0, "lost": 0}
    assert status["accesses"] == {"recorded": 1, "blocks": 0, "waiting": 1, "dropped": 3, "lost": 3}
    assert [(one["name"], one["count"], one["severity"]) for one in status["alarms"]] == [(ACCESSES_LOST, 3, "warning")]
    assert ready.status_code == 200
    for line in ("accesses_recorded_total 1.0", "accesses_waiting 1.0", "accesses_dropped_total 3.0"):
        assert f"engramlog_{line}" in metrics
    assert cleared["alarms"] == []
    assert after == {"recorded": 1, "blocks": 0, "waiting": 1, "dropped": 3, "lost": 0}


def _refuse(*_: Any, **__: Any) -> Any:
    raise StoreUnavailable("Redis takes nothing")


def test_what_was_raised_many_times_at_once_is_counted_as_often_also_where_writing_it_failed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_store(tmp_path) as stage:
        alarms = stage.store.alarms
        call = Wire.call

        def refused(wire: Wire, *words: Any) -> Any:
            if words[0] == "HSET":
                raise StoreUnavailable("Redis takes nothing")
            return call(wire, *words)

        with monkeypatch.context() as broken:
            broken.setattr(Wire, "call", refused)
            alarms.raised(ACCESSES_LOST, "", "lost", times=40)
        alarms.raised(ACCESSES_LOST, "", "lost", times=2)
        assert [(one.name, one.count) for one in alarms.standing()] == [(ACCESSES_LOST, 42)]


def test_an_owner_that_stands_still_is_an_alarm_until_the_event_is_dropped(redis_server: RedisServer) -> None:
    alarms = KeptAlarms()
    with live_store(redis_server.url, partitions=1) as live:
        live.start_worker("first", alarms=alarms)
        (receipt,) = live.append(live.created(OWNER, "tea")._replace(kind="MemoryCreated.9"))
        live.append(live.created("bob", "milk"))
        wait_until(lambda: alarms.standing)
        assert alarms.standing == {("owner_quarantined", "partition 0"): f"{OWNER} at {receipt.position}"}
        live.stop_worker("first")
        live.start_worker("second", alarms=alarms)
        assert receipt.position is not None
        live.append(live.event(EventDiscarded(position=receipt.position, reason="of nobody"), OWNER, "operator"))
        wait_until(lambda: not alarms.standing)


def test_an_alarm_of_a_worker_before_it_ends_where_nobody_stands_still(redis_server: RedisServer) -> None:
    alarms = KeptAlarms()
    alarms.raised("owner_quarantined", "partition 0", "of whoever held it before")
    with live_store(redis_server.url, partitions=1) as live:
        live.start_worker("first", alarms=alarms)
        wait_until(lambda: not alarms.standing)


def test_a_queue_that_is_away_for_a_while_is_an_alarm_until_it_answers() -> None:
    alarms = KeptAlarms()
    alarms.raised("jobs_wait", "", "of a process before")
    watch = ConditionAlarm(alarms, "jobs_wait", patient_seconds=0.05)
    watch.report(None)
    assert not alarms.standing
    watch.report("no connection to Redis")
    assert not alarms.standing, "a failover is no alarm"
    wait_until(lambda: watch.report("no connection to Redis") or alarms.standing)
    assert alarms.standing == {("jobs_wait", ""): "no connection to Redis"}
    watch.report(None)
    assert not alarms.standing
