"""Redis's clock went back: what was left from before must not hold anybody up, and honest events are not called wrong."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from engramlog_server.consumers.fold.presence import Presence, live_workers
from engramlog_server.consumers.jobs.schedule import Leader, lifecycle_status
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.partitions import WORKERS_KEY
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.ops.clock import now_micros
from engramlog_server.projections.redis.builds import BuildKeys
from engramlog_server.projections.redis.create import open_store
from engramlog_server.projections.redis.store import renew_lease, take_lease
from tests.given.http import created, http_store
from tests.integration.live import Live, wait_until
from tests.servers import RedisServer

NOW = 1_800_000_000_000
HOUR = 3_600_000
TTL = 3_000


@pytest.fixture
def wire(redis_server: RedisServer) -> Wire:
    return open_wire(connect(redis_server.url))


@pytest.fixture
def keys(wire: Wire) -> BuildKeys:
    identity = open_store(wire, store_id="test", partitions=1)
    tag = identity.tags[0]
    return BuildKeys(tag, wire.call("HGET", f"{{{tag}}}:meta", "live").decode())


def test_a_lease_from_before_the_clock_went_back_has_ended(wire: Wire, keys: BuildKeys) -> None:
    assert take_lease(wire, keys, "dead", now_ms=NOW, ttl_ms=TTL)
    assert take_lease(wire, keys, "next", now_ms=NOW - HOUR, ttl_ms=TTL)


def test_a_lease_of_now_holds_and_ends_as_it_always_did(wire: Wire, keys: BuildKeys) -> None:
    assert take_lease(wire, keys, "first", now_ms=NOW, ttl_ms=TTL)
    refused = [take_lease(wire, keys, "next", now_ms=NOW + ms, ttl_ms=TTL) for ms in (-TTL, 0, TTL - 1)]
    assert (refused, bool(take_lease(wire, keys, "next", now_ms=NOW + TTL, ttl_ms=TTL))) == ([None] * 3, True)


def test_a_holder_that_lives_keeps_its_lease_when_the_clock_goes_back(wire: Wire, keys: BuildKeys) -> None:
    lease = take_lease(wire, keys, "first", now_ms=NOW, ttl_ms=TTL)
    assert lease is not None
    assert renew_lease(wire, lease, now_ms=NOW - HOUR, ttl_ms=TTL)
    assert take_lease(wire, keys, "next", now_ms=NOW - HOUR + 1, ttl_ms=TTL) is None


def test_a_worker_that_died_before_the_clock_went_back_counts_as_dead(wire: Wire) -> None:
    Presence(wire, "dead", TTL, {}).beat(NOW, [], 0)
    Presence(wire, "slow", TTL, {}).beat(NOW - HOUR + TTL, [], 0)
    alive = Presence(wire, "alive", TTL, {}).beat(NOW - HOUR, [], 0)
    assert (sorted(alive), sorted(live_workers(wire, NOW - HOUR, TTL))) == (["alive", "slow"], ["alive", "slow"])
    assert wire.call("HKEYS", WORKERS_KEY).count(b"dead") == 0


def test_a_leader_that_died_before_the_clock_went_back_leads_no_more(redis_server: RedisServer, wire: Wire) -> None:
    seconds, _ = wire.call("TIME")
    now = int(seconds) * 1_000
    assert Leader(wire, "test", "dead").tend(now + HOUR)
    told = lifecycle_status(open_wire(connect(redis_server.url)), "test", 1)["leader"]
    assert (told, Leader(wire, "test", "next").tend(now)) == (None, True)


def test_a_worker_folds_at_once_what_one_left_who_died_before_the_clock_went_back(redis_server: RedisServer) -> None:
    live = Live(redis_server.url, partitions=2)
    try:
        ahead = now_micros() // 1_000 + HOUR
        wire = open_wire(live.client)
        for tag in live.identity.tags:
            build = wire.call("HGET", f"{{{tag}}}:meta", "live").decode()
            assert take_lease(wire, BuildKeys(tag, build), "dead", now_ms=ahead, ttl_ms=TTL)
        Presence(wire, "dead", TTL, {}).beat(ahead, [0, 1], 0)
        live.append(*(live.created(owner, "tea") for owner in ("ada", "bob", "eve", "lin")))
        live.start_worker("alive")
        wait_until(live.folded)
    finally:
        live.close()


def test_honest_events_under_a_clock_that_is_behind_are_one_503_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = now_micros() - 3_600_000_000
    with http_store(tmp_path) as stage:
        monkeypatch.setattr(stage.store.log._clock, "_read", lambda: late)
        now = utc_text(from_micros(now_micros()))
        body = [created("tea", at=now), created("milk", at=now)]
        refused = stage.client.post("/v1/events", json=body)
        alarms = [alarm["name"] for alarm in stage.client.get("/v1/alarms").json()["alarms"]]
        tomorrow = utc_text(from_micros(now_micros()) + timedelta(days=1))
        wrong = stage.client.post("/v1/events", json=[created("tea", at=now), created("milk", at=tomorrow)])
        written = stage.client.get("/v1/status").json()["events"]
    assert (refused.status_code, refused.json()["error"], refused.headers["retry-after"]) == (503, "ClockBehind", "30")
    assert [problem["index"] for problem in wrong.json()["problems"]] == [1]
    assert (wrong.status_code, written, alarms) == (422, 0, ["clock_apart"])
