"""What `status` says of leases and workers, and what reading it takes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redis

from engramlog_server.consumers.fold.presence import LEASE_MS, RATE_BEATS, Presence
from engramlog_server.events.partitions import WORKERS_KEY, LogKeys
from engramlog_server.events.redis.wire import open_wire
from tests.given.http import HttpStore, created, http_store, mentioned
from tests.integration.live import wait_until


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HttpStore]:
    with http_store(tmp_path / "store") as opened:
        opened.told("alice", created("tea", "I drink tea"), *(mentioned("tea", key=n) for n in range(9)))
        yield opened


def status(store: HttpStore) -> dict[str, Any]:
    answer = store.client.get("/v1/status")
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def commands(store: HttpStore) -> int:
    """Connections that the store's Redis accepted so far."""
    return int(store.store.client.info("stats")["total_connections_received"])


def test_a_partition_tells_who_holds_it_and_until_when(store: HttpStore) -> None:
    told = wait_until(lambda: (found := status(store)) and all(one["holder"] for one in found["partitions"]) and found)
    for one in told["partitions"]:
        assert one["holder"] == "tester"
        assert 0 < one["lease_seconds"] <= LEASE_MS / 1_000
        left = datetime.fromisoformat(one["lease_until"]) - datetime.fromisoformat(told["at"])
        assert left.total_seconds() == pytest.approx(one["lease_seconds"], abs=0.01)


def test_a_worker_tells_its_last_sign_of_life_and_how_fast_it_folds(store: HttpStore) -> None:
    told = wait_until(lambda: (found := status(store)["workers"]) and found[0]["rate"] is not None and found[0])
    assert (told["worker"], sorted(told["partitions"]), told["folded"] >= 10) == ("tester", [0, 1, 2, 3], True)
    assert told["rate"] >= 0
    assert 0 <= told["seen_seconds"] <= LEASE_MS / 1_000
    assert datetime.fromisoformat(told["seen"]).timestamp() == pytest.approx(told["beat_ms"] / 1_000)


def test_a_worker_that_fell_silent_is_told_apart(store: HttpStore) -> None:
    now = int(store.store.client.time()[0]) * 1_000
    gone = {"host": "h", "pid": 1, "beat_ms": now - LEASE_MS - 5_000, "partitions": [0], "folded": 7}
    store.store.client.hset(WORKERS_KEY, "gone", msgspec.json.encode(gone))
    told = status(store)
    assert [one["worker"] for one in told["workers"]] == ["tester"]
    (silent,) = told["silent"]
    assert (silent["worker"], silent["folded"], silent["rate"]) == ("gone", 7, None)
    assert silent["seen_seconds"] >= 8 - 1


def test_a_rate_is_of_the_last_beats_and_unknown_at_first(bundled_redis: redis.Redis) -> None:
    wire = open_wire(bundled_redis)
    presence = Presence(wire, "one", LEASE_MS, {})

    def rate(at: int, folded: int) -> Any:
        presence.beat(at, [0], folded)
        return msgspec.json.decode(bundled_redis.hget(WORKERS_KEY, "one"))["rate"]

    assert rate(10_000, 0) is None
    assert rate(11_000, 500) == 500.0
    for second in range(12, 12 + RATE_BEATS):
        last = rate(second * 1_000, 500)
    assert last == 0.0
    assert rate(5_000, 500) is None  # the clock went back
    wire.close()


def test_asking_again_and_again_opens_no_connection(store: HttpStore) -> None:
    status(store)
    before = commands(store)
    for _ in range(5):
        status(store)
    assert commands(store) - before <= 1  # the one that counts


def test_what_waits_is_told_with_how_long(tmp_path: Path) -> None:
    with http_store(tmp_path / "unfolded", worker=False) as store:
        store.append(created("tea", "I drink tea", owner="alice"))
        (lagging,) = [one for one in status(store)["partitions"] if one["lag"]]
        assert (lagging["lag"], lagging["holder"], lagging["lease_until"], lagging["lease_seconds"]) == (
            1,
            None,
            None,
            None,
        )
        assert lagging["checkpoint_age"] is not None
        store.store.client.xadd(LogKeys(store.store.identity.tags[lagging["partition"]]).stream, {"x": "y"}, id="9-0")
        assert status(store)["lag"] == 1
