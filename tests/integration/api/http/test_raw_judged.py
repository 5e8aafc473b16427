"""Memories that were appended raw are judged by a job, as `add` judges at the write: once, wherever the job is killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event as Flag
from typing import Any
from urllib.parse import quote

import pytest

from engramlog_server.api.exchange.turns import append_lines
from engramlog_server.consumers.jobs import raw_memories
from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
from engramlog_server.consumers.jobs.opened import JobResources, OpenedStore, Walked
from engramlog_server.consumers.jobs.queue import DueJobs
from engramlog_server.consumers.jobs.raw_memories import JUDGE, RawMemories, judge_raw
from engramlog_server.consumers.jobs.run import run, serving
from engramlog_server.events.envelope import canonical, new_event_id
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.keys.master import make_key_file
from engramlog_server.ops.processes.workers import JobSchedule
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.language.text import empty_caches
from engramlog_server.projections.redis.job_notes import MOST_SPANS, RedisUnjudged
from tests.given.client import new_owner
from tests.given.http import HttpStore, Json, created, http_store
from tests.integration.live import wait_until
from tests.patience import PATIENCE


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpStore]:
    with http_store(tmp_path_factory.mktemp("raw") / "store", partitions=1) as found:
        yield found


def settle(store: HttpStore) -> None:
    """Wait until everything is folded."""
    store.application.writer.settle_positions({0: store.application.log.head(0)})


def resources_of(store: HttpStore) -> JobResources:
    return JobResources(
        store.store.url,
        10.0,
        lambda *_told, **_facts: None,
        Flag(),
        master=store.store.client.seals.master,
        keys=store.store.client.seals.open_keys,
    )


def judged(store: HttpStore, owner: str) -> int:
    """One run of the job; how many decisions it appended."""
    with serving(resources_of(store)):
        counts = run(JUDGE, store.store.identity.store_id, partition_of(owner, 1), "tick")
    settle(store)
    assert isinstance(counts, dict)
    assert counts["failed"] == 0
    return counts["decided"]


def is_due(store: HttpStore) -> bool:
    wire = open_wire(store.store.client)
    identity = store.store.identity
    return DueJobs(wire, wire, identity.store_id, identity.tags, None)(JUDGE, 0)


def events(store: HttpStore, owner: str) -> list[Json]:
    found: list[Json] = store.application.events.events(owner, limit=200)["events"]
    return found


def listed(store: HttpStore, owner: str) -> dict[str, list[str]]:
    told = store.application.reader.list(owner)["memories"]
    return {one["id"]: list(one.get("possible_conflicts") or ()) for one in told}


def said(owner: str, memory_id: str, content: str, day: int = 1, **fields: Any) -> Json:
    return created(memory_id, content, owner=owner, at=f"2026-01-{day:02}T08:00:00Z", **fields)


MOVED = [("porto", "I live in Porto", 1), ("lisbon", "I moved to Lisbon", 2)]


def tell(store: HttpStore, owner: str, rows: list[tuple[str, str, int]] = MOVED) -> None:
    for row in rows:
        store.append(said(owner, *row))
    settle(store)


def test_a_raw_memory_ends_the_older_one_with_its_reason_and_its_cause(store: HttpStore) -> None:
    owner = new_owner()
    tell(store, owner)
    assert set(listed(store, owner)) == {"porto", "lisbon"}
    assert is_due(store)
    assert judged(store, owner) == 1
    assert set(listed(store, owner)) == {"lisbon"}
    raw = {one["data"]["memory_id"]: one for one in events(store, owner) if one["type"] == "MemoryCreated"}
    ended = [one for one in events(store, owner) if one["type"] == "MemoryNegated"]
    assert [(one["data"]["memory_id"], one["data"]["replaced_by"]) for one in ended] == [("porto", "lisbon")]
    assert ended[0]["causation_id"] == raw["lisbon"]["event_id"]
    why = store.client.get(f"/v1/owners/{quote(owner, safe='')}/memories/porto/why").json()
    assert "lisbon" in str(why)
    assert ended[0]["data"]["reason"] in str(why)
    assert not is_due(store)


def test_a_producers_own_link_between_two_memories_decides_nothing(store: HttpStore) -> None:
    owner = new_owner()
    for row in MOVED:
        store.append(said(owner, *row))
    link = {"a": "porto", "b": "lisbon", "weight": 0.4, "link": "related"}
    store.append(said(owner, *MOVED[1]) | {"type": "MemoriesLinked", "data": link, "event_id": new_event_id()})
    settle(store)
    assert judged(store, owner) == 1
    assert set(listed(store, owner)) == {"lisbon"}


def test_a_job_that_is_killed_between_its_events_and_run_again_decides_the_same_once(
    store: HttpStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = new_owner()
    rows = [*MOVED, ("tea", "I prefer tea", 3), ("hate", "I hate tea", 4), ("rome", "I moved to Rome", 5)]
    tell(store, owner, rows)

    class Killed(BaseException):
        pass

    append, left = LifecycleJobs._append, [1]

    def killed(self: Any, of: str, decisions: Any, *rest: Any) -> bool:
        append(self, of, decisions[: left.pop()], *rest)
        raise Killed

    monkeypatch.setattr(LifecycleJobs, "_append", killed)
    with pytest.raises(Killed):
        judged(store, owner)
    settle(store)
    monkeypatch.undo()
    assert is_due(store)
    whole = judged(store, owner)
    done = events(store, owner)
    assert whole >= 1
    assert len({one["event_id"] for one in done}) == len(done)
    assert listed(store, owner) == {"tea": ["hate"], "hate": ["tea"], "rome": []}
    pairs = [str(sorted(one["data"].items())) for one in done if one["type"] != "MemoryCreated"]
    assert len(set(pairs)) == len(pairs) == 3
    other = new_owner()
    tell(store, other, rows)
    judged(store, other)
    assert [str(sorted(one["data"].items())) for one in events(store, other) if one["type"] != "MemoryCreated"] == pairs


def test_events_sent_again_and_an_undone_decision_are_not_judged_again(store: HttpStore) -> None:
    owner = new_owner()
    tell(store, owner)
    judged(store, owner)
    store.application.writer.confirm(owner, "porto")
    before = events(store, owner)
    tell(store, owner)
    assert judged(store, owner) == 0
    assert events(store, owner) == before
    assert set(listed(store, owner)) == {"porto", "lisbon"}


def test_nothing_is_decided_of_what_verbs_wrote_nor_of_imported_records(store: HttpStore) -> None:
    owner, add = new_owner(), store.application.rememberer.add
    first = add(owner, "I live in Porto")
    add(owner, "I moved to Lisbon")
    store.application.writer.confirm(owner, first["id"])
    path = "/v1/events?judge=true"
    store.client.post(path, json=[said(owner, "tea", "I prefer tea")]).raise_for_status()
    store.client.post(path, json=[said(owner, "hate", "I hate tea")]).raise_for_status()
    records = [{"id": "rome", "content": "I moved to Rome", "created_at": "2026-01-07T08:00:00Z"}]
    store.client.post(f"/v1/owners/{quote(owner, safe='')}/import/records", json=records).raise_for_status()
    before = events(store, owner)
    assert not is_due(store)
    assert (judged(store, owner), events(store, owner)) == (0, before)
    tell(store, owner, [("cat", "I have a cat", 3)])
    store.append(said(owner, "record", "I moved to Rome", 9, imported={"access_count": 1}))
    assert judged(store, owner) == 0
    assert len(events(store, owner)) == len(before) + 2


def test_what_an_assistant_appended_against_the_user_s_own_word_waits_for_a_person(store: HttpStore) -> None:
    owner = new_owner()
    tell(store, owner, MOVED[:1])
    reported = said(owner, "lisbon", "User lives in Lisbon now", 2, source="assistant", category="fact")
    store.append(reported | {"actor": "assistant"})
    settle(store)
    judged(store, owner)
    assert "porto" in listed(store, owner)
    with store.application.reader.snapshot(owner) as snapshot:
        porto = snapshot.view.get("porto")
    assert porto is not None
    assert (porto.negations, len(porto.waiting)) == ((), 1)


def test_a_raw_memory_that_happened_earlier_ends_nothing_newer(store: HttpStore) -> None:
    owner = new_owner()
    tell(store, owner, [("new", "I sold the Focus, I ride a bicycle now", 9), ("old", "I drive a red Ford Focus", 1)])
    judged(store, owner)
    assert "new" in listed(store, owner)


def test_a_file_of_events_is_judged_too(store: HttpStore) -> None:
    owner, note = new_owner(), store.application.views.unjudged.note
    lines = [canonical(said(owner, *row)) for row in MOVED]
    assert append_lines(store.application.log, lines, note=note).appended == 2
    settle(store)
    judged(store, owner)
    assert set(listed(store, owner)) == {"lisbon"}


@pytest.mark.parametrize("behind", ["nothing", "an owner that fails"])
def test_a_note_wakes_the_judge(store: HttpStore, monkeypatch: pytest.MonkeyPatch, behind: str) -> None:
    """No job runs here, and each wait is longer than the test may take: only the note can end it."""
    for name in ("WAIT_SECONDS", "SOONEST_SECONDS", "LATEST_SECONDS"):
        monkeypatch.setattr(raw_memories, name, 2 * PATIENCE)
    resources, unjudged, log = resources_of(store), store.application.views.unjudged, store.application.log
    waits, wait, plan = list[Any](), RedisUnjudged.wait, LifecycleJobs.carry_out_plan
    owner, other = new_owner(), new_owner()

    def waiting(this: RedisUnjudged, notes: list[bytes], seconds: float) -> bool:
        waits.append(notes)
        return wait(this, notes, seconds)

    def planned(this: Any, of: str, *arguments: Any, **options: Any) -> Any:
        if of == other:
            raise ValueError(of)
        return plan(this, of, *arguments, **options)

    monkeypatch.setattr(RedisUnjudged, "wait", waiting)
    monkeypatch.setattr(LifecycleJobs, "carry_out_plan", planned)
    unjudged.remove(0, unjudged.first(0, MOST_SPANS))
    notes = list[Any]()

    def fold(of: str, rows: list[tuple[str, str, int]]) -> None:
        lines = [canonical(said(of, *row)) for row in rows]
        append_lines(log, lines, note=lambda *told: notes.append(told))
        settle(store)

    fold(owner, MOVED)
    fold(other, MOVED[:1] if behind == "an owner that fails" else [])
    for told in notes[1:]:
        unjudged.note(*told)
    thread = RawMemories(resources, store.store.identity.store_id, lambda: True)
    thread.start()
    wait_until(lambda: waits)
    unjudged.note(*notes[0])
    wait_until(lambda: set(listed(store, owner)) == {"lisbon"})
    resources.stop.set()
    unjudged.note(*notes[0])
    thread.stop(PATIENCE)
    unjudged.remove(0, unjudged.first(0, MOST_SPANS))


def test_the_schedule_of_an_encrypted_store_judges_at_once(tmp_path: Path) -> None:
    make_key_file(tmp_path / "key")
    with http_store(tmp_path / "store", partitions=1, sealed_by=str(tmp_path / "key")) as store:
        opened, told = store.store, list[str]()
        assert opened.client.seals.is_on
        schedule = JobSchedule(
            *(opened.url, opened.identity, Settings(), lambda fact, **_facts: told.append(fact), opened.alarms),
            seals=opened.client.seals,
        ).start()
        owner = new_owner()
        tell(store, owner)
        wait_until(lambda: set(listed(store, owner)) == {"lisbon"} or "raw memories delayed" in told)
        assert "raw memories delayed" not in told
        judge = schedule._raw._opened
        assert judge is not None
        assert owner in judge.views.held_owners()
        empty_caches()  # as this process does once something was erased
        assert not judge.views.held_owners()
        assert not judge.wire.seals.held_owners()
        schedule.stop(PATIENCE)


def test_the_judge_leaves_what_is_not_folded_and_judges_the_rest(store: HttpStore) -> None:
    owner, unjudged = new_owner(), store.application.views.unjudged
    unjudged.remove(0, unjudged.first(0, MOST_SPANS))
    store.told(owner, *(said(owner, *row) for row in MOVED))
    resources = resources_of(store)
    opened = OpenedStore(resources, store.store.identity.store_id, "job:judge")
    (span,) = unjudged.first(0, 1)
    assert judge_raw(opened, 0, 10, span.last - 1) == Walked(0, 0, 0)
    assert unjudged.first(0, 1) == [span]
    judge_raw(opened, 0, 10, span.last)
    assert unjudged.first(0, 1) == []
    opened.close()
