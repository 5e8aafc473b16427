"""What runs because a caller asked for it brings its events in his name, as a job; what runs by schedule in the job's own."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event as Flag
from typing import Any

import pytest

from engramlog_server.consumers.jobs.opened import JobResources
from engramlog_server.consumers.jobs.run import JOBS, KINDS, kinds_of, run, serving
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.log import RedisEventLog
from tests.given.http import HttpStore, Json, created, event, http_store
from tests.rows import each_row

VERBS = ["produce", "read", "correct", "delete", "review"]
TURNS = (("user", "I live in Berlin. I like hiking."), ("assistant", "Berlin is fine."), ("user", "我喜欢喝龙井茶。"))


def turns(owner: str) -> list[Json]:
    """What is said to an owner, as events."""
    return [
        event("TurnRecorded", owner=owner, key=number, turn_id=f"t{number}", role=role, text=text) | {"actor": role}
        for number, (role, text) in enumerate(TURNS)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("caused") / "store") as found:
        yield found


def _brought(store: HttpStore, owner: str) -> set[tuple[str, str]]:
    """Type and principal of each event of an owner."""
    page = store.application.events.events(owner, limit=100)
    return {(one["type"], one["principal"]) for one in page["events"]}


@each_row("what", ["extract", "cleanup", "episodes"])
def test_what_a_caller_has_done_is_brought_in_his_name(store: HttpStore, what: str) -> None:
    owner, principal = f"caused-{what}", f"agent-{what}"
    key = store.application.keys.issue(principal, grants=[{"verbs": VERBS, "owners": [owner]}])["key"]
    headers = {"authorization": f"Bearer {key}"}
    bodies: dict[str, Any] = {
        "extract": {},
        "cleanup": {"jobs": ["sweep", "review", "merge", "link", "levels"]},
        "episodes": {},
    }
    told = store.client.post("/v1/events", json=turns(owner), headers=headers)
    assert told.status_code == 200, told.text
    before = _brought(store, owner)
    answer = store.client.post(f"/v1/owners/{owner}/{what}", json=bodies[what], headers=headers)
    assert answer.status_code == 200, answer.text
    after = _brought(store, owner)
    assert {who for _, who in after} == {principal}
    if what == "extract":
        assert ("TurnsExtracted", principal) in after - before


def test_nothing_that_a_caller_asks_for_is_put_into_the_queue(store: HttpStore) -> None:
    """Jobs of the queue are the schedule's own: who asks has his work done in his call."""
    asked: dict[str, Any] = dict(kinds_of("rules", "extractive", embed_minutes=1))
    assert set(asked) > set(KINDS)
    keys = store.store.client.keys("rq:job:*")
    owner = "caused-nothing"
    store.client.post("/v1/events", json=turns(owner)).raise_for_status()
    for what in ("extract", "cleanup", "episodes"):
        store.client.post(f"/v1/owners/{owner}/{what}", json={}).raise_for_status()
    assert store.store.client.keys("rq:job:*") == keys


@each_row("kind", sorted(JOBS))
def test_what_runs_by_schedule_is_brought_in_the_job_s_own_name_whoever_said_what_it_is_made_of(
    store: HttpStore, kind: str
) -> None:
    """Every job of the queue: its events are `job:KIND`'s, and none is a key's."""
    owner, principal = f"scheduled-{kind}", f"agent-of-{kind}"
    key = store.application.keys.issue(principal, grants=[{"verbs": VERBS, "owners": [owner]}])["key"]
    headers = {"authorization": f"Bearer {key}"}
    said = [*turns(owner), *memories(owner)]
    store.client.post("/v1/events", json=said, headers=headers).raise_for_status()
    store.application.reader.list(owner)
    before = _brought(store, owner)
    assert {who for _, who in before} == {principal}
    logs: list[str] = []

    def log(*args: Any, principal: str, **told: Any) -> RedisEventLog:
        logs.append(principal)
        return RedisEventLog(*args, principal=principal, **told)

    seals = store.store.client.seals
    told: dict[str, Any] = {"log": log, "looked_at": {}, "master": seals.master, "keys": seals.open_keys}
    served = JobResources(store.store.url, 10.0, lambda *_told, **_facts: None, Flag(), **told)
    partition = partition_of(owner, store.application.log.partitions)
    with serving(served):
        run(kind, store.store.identity.store_id, partition, "0")
    assert logs == [f"job:{kind}"]
    store.application.settle()
    brought = _brought(store, owner) - before
    assert {who for _, who in brought} <= {f"job:{kind}"}
    if kind in WRITES:
        assert {what for what, _ in brought} & WRITES[kind], brought


WRITES = {"extract": {"TurnsExtracted", "MemoryCreated"}, "judge": {"MemoriesLinked"}}
"""Kinds that find something to say of these, and what."""


def memories(owner: str) -> list[Json]:
    """Two that are linked."""
    return [
        created("a", "I drink strong black coffee in the morning", owner=owner),
        created("b", "In the morning I like strong black tea", owner=owner),
    ]


def test_every_kind_of_job_that_may_be_scheduled_is_tried_above() -> None:
    assert set(JOBS) == set(kinds_of("rules", "extractive", embed_minutes=1))
