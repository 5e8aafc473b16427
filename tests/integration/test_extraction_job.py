"""Extraction as a job: at least once from the queue, exactly once in effect, wherever it is killed."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event as Flag
from typing import Any

import pytest

from api.importing import ImportOptions, import_turns
from consumers import redis_lifecycle
from consumers.redis_lifecycle import Lifecycle
from consumers.rq_jobs import Serving, run, serving
from events.envelope import canonical, decode
from projections.redis_view import RedisViews
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer, Servers

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
def server(redis_servers: Servers) -> RedisServer:
    return redis_servers.get("redis-6.2")


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


def test_a_run_that_is_killed_between_two_requests_is_made_whole_by_the_next(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    lifecycle = Lifecycle(live.log, RedisViews(live.client, live.identity.tags))
    whole = lifecycle.carry_out("ada", ["extract"]).as_dict()["counts"]

    class Killed(Exception):
        pass

    def die(_done: int, _total: int) -> None:
        raise Killed

    monkeypatch.setattr(redis_lifecycle, "REQUEST", 2)
    runs = 0
    while True:
        runs += 1
        try:
            lifecycle.carry_out("bo", ["extract"], on_progress=die)
        except Killed:
            continue
        break
    assert runs > 3
    assert whole == {"add": 8, "assert": 8, "boost": 1, "negate": 2, "read": 1}
    assert decided(live, "bo") == decided(live, "ada")


def test_the_job_reads_every_owner_and_its_second_run_finds_nothing(live: Live, server: RedisServer) -> None:
    served = Serving(server.url, 10.0, lambda _fact, **_facts: None, Flag())
    with serving(served):
        first = run("extract", "test", 0, "tick")
        second = run("extract", "test", 0, "tock")
    assert isinstance(first, dict)
    assert (first["owners"], first["failed"]) == (2, 0)
    assert second == {"owners": 2, "decided": 0, "failed": 0}
    assert decided(live, "ada") == decided(live, "bo") != []
