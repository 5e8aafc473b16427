"""Lifecycle jobs: the same whenever they run, resumable wherever they are killed, and run by RQ in a process of ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from rq.registry import FailedJobRegistry, FinishedJobRegistry, ScheduledJobRegistry, StartedJobRegistry

from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs, owners_of
from engramlog_server.consumers.jobs.opened import UNFOLDED_IN_A_ROW
from engramlog_server.consumers.jobs.queue import ABANDONED_SECONDS, JobScheduler
from engramlog_server.consumers.jobs.run import run, serving
from engramlog_server.events.catalogue import MemoryDeleted
from engramlog_server.events.envelope import (
    AnyEvent,
    Prepared,
    canonical,
    decode,
    micros,
    new_event_id,
    prepare,
    prepare_body,
)
from engramlog_server.events.errors import (
    BadSetting,
    ConcurrencyError,
    NotYetFolded,
    OwnerQuarantined,
    StoreMismatch,
    StoreUnavailable,
)
from engramlog_server.events.log import Appendable, AppendReceipt
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.events.validation import make_event
from engramlog_server.projections.laws.modes import effective_levels
from engramlog_server.projections.lifecycle import Decision
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.record import LEVELS
from engramlog_server.projections.redis.view import RedisViews
from tests.given.alarms import KeptAlarms
from tests.given.events import Told, at, created, mentioned, moment, negated, parameters, profile, reinforced, restored
from tests.integration.live import Live, live_store, wait_until
from tests.integration.ops.test_up import Up, get, running
from tests.integration.served import Served, job_worker, scheduled
from tests.patience import PATIENCE
from tests.servers import RedisServer, wheel_server

CATEGORIES = ("identity", "stable_preference", "short_term_preference", "fact", "skill", "temporary")
SWEEP = ("sweep",)
UNREADABLE = "MemoryCreated.9"


@pytest.fixture
def live(server: RedisServer) -> Iterator[Live]:
    """A store of four partitions that a worker folds."""
    with live_store(server.url, partitions=4) as store:
        store.start_worker("folder")
        yield store


class Jobs:
    """The lifecycle of a live store, and what it left in the log."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.views = RedisViews(live.client, live.identity.tags)
        self.lifecycle = LifecycleJobs(live.log, self.views)

    def tell(self, owner: str, *events: Told) -> None:
        """Append these events of an owner."""
        self.live.append(*(self.prepared(owner, one) for one in events))

    def prepared(self, owner: str, told: Told) -> Prepared:
        """One event, ready to append."""
        now = self.live.log.now()
        event = make_event(
            told.data, owner=owner, occurred_at=moment(told.day), actor=told.actor, now=now, **told.extra
        )
        return prepare(event)

    def decided(self, owner: str) -> list[AnyEvent]:
        """The events of the system about an owner, in the order of the log."""
        partition = partition_of(owner, self.live.log.partitions)
        stored = self.live.log.read(partition, 0, 100_000)
        events = [decode(one.kind, one.body) for one in stored if one.owner == owner and one.kind != UNREADABLE]
        return [event for event in events if event.actor == "system" and event.causation_id is not None]

    def standing(self, owner: str, day: float) -> dict[str, tuple[Any, ...]]:
        """Memory -> state, recorded level and effective level, once all is folded that was decided.

        A tombstone has no level: what was recorded before the purge says only when somebody swept.
        """
        head = self.live.log.owner_head(owner)
        with self.views.view(owner, after=head, wait_seconds=PATIENCE) as (view, _):
            columns, now = view.columns, at(day)
            weights = view.law.weights(columns, now, view.parameters)
            levels = effective_levels(columns, view.law, weights, now, view.parameters)
            states = columns.state.tolist()
            return {
                memory.id: (state,) if state == Columns.PURGED else (state, memory.level, LEVELS[int(level)])
                for memory, state, level in zip(columns.memories, states, levels, strict=True)
            }


@pytest.fixture
def jobs(live: Live) -> Iterator[Jobs]:
    made = Jobs(live)
    yield made
    made.views.close()


SETTINGS: dict[str, dict[str, Any]] = {
    "weighted": {"archive_after_days": 100, "trace_after_days": 80, "delete_archived_after_days": 60},
    "ebbinghaus": {"initial_stability": 480, "summary_after_days": 10},
    "consolidating": {"archive_after_days": 150, "delete_archived_after_days": 40},
    "tiered": {"archive_after_days": 120, "delete_archived_after_days": 90},
}
"""So that each law compresses, archives and deletes within a year."""


def year(law: str) -> list[Told]:
    """Three dozen memories of three weeks, some mentioned, used, negated or sensitive; then nothing more is heard."""
    told = [profile(law), parameters(**SETTINGS[law])]
    for n in range(36):
        extra = {"tier": "episode"} if n % 9 == 4 else {"sensitivity": 1} if n % 11 == 3 else {}
        told.append(created(f"thing {n} of all", f"m{n}", n / 7, category=CATEGORIES[n % 6], **extra))
    told += [mentioned(f"m{n}", day=6 + n / 3) for n in range(0, 36, 4)]
    told += [reinforced(f"m{n}", day=7 + n / 4) for n in range(0, 36, 5)]
    told += [negated(f"m{n}", day=8 + n / 4, reason="no more") for n in (7, 15, 20)]
    return told


def newest(decisions: Sequence[Decision]) -> dict[str, tuple[str, Any, int]]:
    """Memory -> its last decision but for purges: action, level, due."""
    return {
        one.ids[0]: (one.action, getattr(one.data, "level", None), one.due_at)
        for one in decisions
        if one.action != "purge"
    }


@pytest.mark.parametrize("law", SETTINGS)
def test_one_sweep_after_a_year_decides_what_a_hundred_in_it_decide(jobs: Jobs, law: str) -> None:
    for owner in ("once", "often"):
        jobs.tell(owner, *year(law))
    often: list[Decision] = []
    for number in range(1, 101):
        often += jobs.lifecycle.carry_out("often", SWEEP, now=at(22 + 3.65 * number)).decisions
    once = jobs.lifecycle.carry_out("once", SWEEP, now=at(387)).decisions
    deletions = {one.ids[0]: one.due_at for one in once if one.action == "delete"}
    assert {one.ids[0]: one.due_at for one in often if one.action == "delete"} == deletions
    assert deletions
    assert newest(once) == newest(often)
    assert len(often) > len(once)
    # A deletion is dated when it was decided, so that whoever it belongs to always has thirty days to restore it.
    assert not any(one.action == "purge" for one in once)
    last = {owner: jobs.lifecycle.carry_out(owner, SWEEP, now=at(387 + 31)).decisions for owner in ("once", "often")}
    purged = {one.ids[0] for one in last["once"] if one.action == "purge"}
    assert purged == {one.ids[0] for one in [*often, *last["often"]] if one.action == "purge"} == set(deletions)
    assert jobs.standing("once", 420) == jobs.standing("often", 420)


def due(count: int) -> list[Told]:
    """So many memories, none like another, that nobody mentioned for long."""
    return [created(f"entry{n}", f"m{n}", day=n / 50, category="temporary") for n in range(count)]


class BreaksOff:
    """A log that is gone for good after so many requests, as if the process were killed."""

    def __init__(self, live: Live, requests: int) -> None:
        self._live, self._left = live, requests
        self.partitions = live.log.partitions

    def append(self, events: Sequence[Appendable], **options: Any) -> list[AppendReceipt]:
        """Append, or be gone."""
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1
        return self._live.log.append(events, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._live.log, name)


def told(event: AnyEvent) -> tuple[str, str, Any]:
    """What of an event must be the same whenever it was decided."""
    return event.event_id, event.type, event.data


@pytest.mark.parametrize("requests", [0, 1, 2, 5])
def test_a_run_killed_after_some_requests_goes_on_and_decides_each_once(
    jobs: Jobs, live: Live, monkeypatch: pytest.MonkeyPatch, requests: int
) -> None:
    monkeypatch.setattr("engramlog_server.consumers.jobs.lifecycle.REQUEST", 10)
    jobs.tell("ada", *due(60))
    planned = jobs.lifecycle.plan("ada", SWEEP, now=at(300)).decisions
    broken: Any = BreaksOff(live, requests)
    with pytest.raises(KeyboardInterrupt):
        LifecycleJobs(broken, jobs.views).carry_out("ada", SWEEP, now=at(300))
    assert len(jobs.decided("ada")) == 10 * requests
    jobs.lifecycle.carry_out("ada", SWEEP, now=at(301))
    undisturbed = [(one.event_id("ada"), type(one.data).__name__, one.data) for one in planned]
    assert [told(event) for event in jobs.decided("ada")] == undisturbed
    assert jobs.lifecycle.carry_out("ada", SWEEP, now=at(301)).appended == 0


@pytest.mark.parametrize(("day", "there"), [(300, 30), (300.5, 0)])
def test_two_runs_at_once_decide_each_once(jobs: Jobs, live: Live, day: float, there: int) -> None:
    """One appends all of it after the other has planned: at the same instant the same events, at another other ones."""
    jobs.tell("ada", *due(30))

    class Interrupted(BreaksOff):
        def append(self, events: Sequence[Appendable], **options: Any) -> list[AppendReceipt]:
            if self._left:
                self._left = 0
                jobs.lifecycle.carry_out("ada", SWEEP, now=at(300))
            return live.log.append(events, **options)

    late: Any = Interrupted(live, 1)
    assert LifecycleJobs(late, jobs.views).carry_out("ada", SWEEP, now=at(day)).appended == there
    ids = [event.event_id for event in jobs.decided("ada")]
    assert len(ids) == len(set(ids)) == 30


def test_what_a_producer_says_meanwhile_is_never_decided_over(jobs: Jobs, live: Live) -> None:
    jobs.tell("ada", *due(3))

    class Overtaken(BreaksOff):
        def append(self, events: Sequence[Appendable], **options: Any) -> list[AppendReceipt]:
            if self._left:
                self._left = 0
                jobs.tell("ada", mentioned("m1", day=299))
            return live.log.append(events, **options)

    overtaken: Any = Overtaken(live, 1)
    done = LifecycleJobs(overtaken, jobs.views).carry_out("ada", SWEEP, now=at(300))
    assert sorted(one.ids[0] for one in done.decisions) == ["m0", "m2"]


def test_an_owner_who_goes_on_during_every_plan_is_decided_about_all_the_same(jobs: Jobs, live: Live) -> None:
    jobs.tell("ada", *due(3))

    class Busy(LifecycleJobs):
        def _planned(self, *told: Any, **options: Any) -> list[Decision]:
            decisions = super()._planned(*told, **options)
            jobs.tell("ada", mentioned("m1", day=299))
            return decisions

    busy = Busy(live.log, jobs.views)
    assert sorted(one.ids[0] for one in busy.carry_out("ada", SWEEP, now=at(300)).decisions) == ["m0", "m2"]
    assert len(jobs.decided("ada")) == 2


def test_an_owner_that_never_stands_still_is_left_for_later(jobs: Jobs, live: Live) -> None:
    jobs.tell("ada", *due(3))

    class Busy(BreaksOff):
        def append(self, events: Sequence[Appendable], **options: Any) -> list[AppendReceipt]:
            jobs.tell("ada", mentioned("m1", day=1))
            return live.log.append(events, **options)

    busy: Any = Busy(live, 1)
    with pytest.raises(ConcurrencyError, match="ada went on 5 times"):
        LifecycleJobs(busy, jobs.views).carry_out("ada", SWEEP, now=at(300))


def test_what_somebody_restored_is_deleted_no_second_time_for_the_same_reason(jobs: Jobs) -> None:
    jobs.tell("ada", profile("ebbinghaus"), created("tea", "m"))
    jobs.lifecycle.carry_out("ada", SWEEP, now=at(60))
    jobs.tell("ada", restored("m", day=70))
    assert [one.action for one in jobs.lifecycle.plan("ada", SWEEP, now=at(71)).decisions] != ["delete"]
    assert [type(event.data) for event in jobs.decided("ada")] == [MemoryDeleted]


def poison(live: Live, owner: str) -> None:
    """Append an event that this release cannot read: the owner is quarantined."""
    event_id = new_event_id()
    document = {"event_id": event_id, "type": "MemoryCreated", "schema_version": 9, "owner": owner, "data": {}}
    live.append(prepare_body(event_id, "MemoryCreated", 9, owner, canonical(document)))


def test_a_quarantined_owner_is_not_decided_about(jobs: Jobs, live: Live) -> None:
    jobs.tell("ada", *due(3))
    poison(live, "ada")
    for ask in (jobs.lifecycle.plan, jobs.lifecycle.carry_out):
        with pytest.raises(OwnerQuarantined, match="ada is quarantined"):
            ask("ada", SWEEP)


def test_nothing_is_decided_on_records_of_another_version(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of 0.1.0 have no stability: under ebbinghaus each would seem long forgotten."""
    jobs.tell("ada", *due(3))
    monkeypatch.setattr("engramlog_server.consumers.jobs.lifecycle.PROJECTION_VERSION", 99)
    for ask in (jobs.lifecycle.plan, jobs.lifecycle.carry_out):
        with pytest.raises(NotYetFolded, match="run `engramlog rebuild` first"):
            ask("ada", SWEEP)
    assert jobs.decided("ada") == []


@pytest.fixture
def served(live: Live, server: RedisServer) -> Iterator[Served]:
    made = Served(live, server.url)
    yield made
    made.queue.connection.close()


def tick(live: Live, url: str) -> JobScheduler:
    """A scheduler that has just enqueued the jobs of the present tick."""
    scheduler = JobScheduler(connect(url), live.identity.store_id, live.log.partitions, "scheduler")
    assert scheduler.tend(scheduler.now_ms()) == 2 * live.log.partitions
    return scheduler


def test_a_tick_s_jobs_decide_for_every_owner_whatever_stands_in_the_way_of_one(
    jobs: Jobs, live: Live, served: Served, server: RedisServer
) -> None:
    owners = [f"owner-{n}" for n in range(12)]
    for owner in owners:
        jobs.tell(owner, *due(3))
    poison(live, "owner-5")
    wait_until(live.folded)
    tick(live, server.url)
    served.work()
    assert FinishedJobRegistry(queue=served.queue).count == 2 * 4
    assert (served.queue.count, FailedJobRegistry(queue=served.queue).count) == (0, 0)
    assert all(len(jobs.decided(owner)) == 3 for owner in owners if owner != "owner-5")
    assert jobs.decided("owner-5") == []
    left_out = [facts for fact, facts in served.told if fact == "owner skipped"]
    assert [(facts["owner"], facts["alarm"]) for facts in left_out] == [("owner-5", True)] * 2  # upkeep and daily
    assert all("OwnerQuarantined" in facts["reason"] for facts in left_out)


def test_an_owner_who_is_too_large_is_left_out_and_an_alarm_says_so_until_he_is_not(
    jobs: Jobs, live: Live, served: Served, server: RedisServer
) -> None:
    jobs.tell("small", *due(3))
    jobs.tell("large", *due(40))
    wait_until(live.folded)
    alarms = KeptAlarms()
    served.serving = served.serving._replace(view_bytes=40_000, alarms=alarms)
    tick(live, server.url)
    served.work()
    assert (len(jobs.decided("small")), jobs.decided("large")) == (3, [])
    assert [text for (name, _), text in alarms.standing.items() if name == "owner_too_large"] == ["left out: large"]
    served.serving = served.serving._replace(view_bytes=1 << 30)
    partition = partition_of("large", 4)
    served.run("upkeep", partition)
    assert (len(jobs.decided("large")), alarms.standing) == (40, {})


def test_daily_jobs_merge_and_link_and_replay_only_for_who_asked(jobs: Jobs, served: Served) -> None:
    same = [created("I drink green tea every morning", f"m{n}", day=n) for n in range(2)]
    lesson = [
        created("Never deploy on a Friday", "l", day=0, kind="lesson", confidence=1.0, emotion=-0.9, category="skill")
    ]
    jobs.tell("asked", parameters(replay_important=True), *same, *lesson)
    jobs.tell("silent", *same, *lesson)
    wait_until(jobs.live.folded)
    for owner in ("asked", "silent"):
        assert served.run("daily", partition_of(owner, 4))["failed"] == 0
    kinds = {owner: [event.type for event in jobs.decided(owner)] for owner in ("asked", "silent")}
    assert kinds == {"asked": ["MemoryMerged", "MemoriesAccessed"], "silent": ["MemoryMerged"]}


def test_owners_are_read_in_pages_from_the_live_build(jobs: Jobs, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.events.redis.wire.PAGE", 7)
    owners = [f"owner-{n}" for n in range(100)]
    live.append(*(live.created(owner, "m") for owner in owners))
    wait_until(live.folded)
    wire = open_wire(live.client)
    found = [owners_of(wire, tag) for tag in live.identity.tags]
    wire.close()
    assert sorted(owner for part in found for owner in part) == sorted(owners)
    assert all(partition_of(owner, 4) == number for number, part in enumerate(found) for owner in part)


def test_a_job_of_an_unknown_kind_or_another_store_is_refused(served: Served) -> None:
    with pytest.raises(BadSetting, match="job kind: got 'dance'; allowed: upkeep, daily"):
        served.run("dance", 0)
    with serving(served.serving), pytest.raises(StoreMismatch, match="this worker's store is test"):
        run("upkeep", "another", 0, "20260101T0000")


def test_a_job_that_failed_is_tried_again_later_and_at_last_left_to_the_next_tick(
    jobs: Jobs, live: Live, served: Served, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.tell("ada", *due(3))
    wait_until(live.folded)
    monkeypatch.setattr("engramlog_server.consumers.jobs.queue.RETRY.intervals", [1, 1, 1])
    partition = partition_of("ada", 4)
    scheduler = tick(live, server.url)
    with monkeypatch.context() as broken:
        broken.setattr(LifecycleJobs, "carry_out", _unavailable)
        served.work()
        assert jobs.decided("ada") == []
        assert ScheduledJobRegistry(queue=served.queue).count == 2  # both kinds of the partition that has an owner
        wait_until(lambda: len(ScheduledJobRegistry(queue=served.queue).get_jobs_to_schedule()) == 2)
        served.work()
    wait_until(lambda: served.work() and ScheduledJobRegistry(queue=served.queue).count == 0)
    assert len(jobs.decided("ada")) == 3
    assert FailedJobRegistry(queue=served.queue).count == 0
    with monkeypatch.context() as broken:
        broken.setattr(LifecycleJobs, "carry_out", _unavailable)
        scheduler.enqueue("upkeep", 0)
        wait_until(lambda: served.work() and FailedJobRegistry(queue=served.queue).count == 1)
    assert FailedJobRegistry(queue=served.queue).get_job_ids() == [f"upkeep-test-p{partition}-19700101T0000"]


def _unavailable(*_arguments: Any, **_options: Any) -> Any:
    raise StoreUnavailable("no connection to Redis")


def test_a_partition_that_nobody_folds_is_left_to_a_later_run(
    jobs: Jobs, live: Live, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.consumers.jobs.lifecycle.WAIT_SECONDS", 0.05)
    owners = [owner for owner in (f"owner-{n}" for n in range(100)) if partition_of(owner, 4) == 0][:8]
    for owner in owners:
        jobs.tell(owner, *due(1))
    wait_until(live.folded)
    live.stop_worker("folder")
    for owner in owners:
        jobs.tell(owner, mentioned("m0"))
    with pytest.raises(NotYetFolded):
        served.run("upkeep", 0)
    assert len([fact for fact, _ in served.told if fact == "owner skipped"]) == UNFOLDED_IN_A_ROW


def test_a_job_that_is_stopped_goes_back_to_the_queue_and_another_goes_on(
    jobs: Jobs, live: Live, served: Served, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.consumers.jobs.lifecycle.REQUEST", 10)
    jobs.tell("ada", *due(50))
    wait_until(live.folded)
    tick(live, server.url)
    appends = live.log.append.__func__  # type: ignore[attr-defined]

    def stopping(log: Any, events: Sequence[Appendable], **options: Any) -> list[AppendReceipt]:
        served.stop.set()
        return appends(log, events, **options)  # type: ignore[no-any-return]

    with monkeypatch.context() as midway:
        midway.setattr("engramlog_server.events.redis.log.RedisEventLog.append", stopping)
        served.work()
    assert len(jobs.decided("ada")) == 10
    assert [fact for fact, _ in served.told] == ["job postponed"]
    assert f"upkeep-test-p{partition_of('ada', 4)}" in " ".join(served.queue.job_ids)
    served.stop.clear()
    served.work()
    ids = [event.event_id for event in jobs.decided("ada")]
    assert len(ids) == len(set(ids)) == 50
    assert FailedJobRegistry(queue=served.queue).count == 0


def test_a_job_whose_worker_was_killed_is_taken_up_by_another_and_nothing_is_decided_twice(
    jobs: Jobs, live: Live, served: Served, server: RedisServer
) -> None:
    owners = [owner for owner in (f"owner-{n}" for n in range(2_000)) if partition_of(owner, 4) == 0][:300]
    events = [jobs.prepared(owner, one) for owner in owners for one in due(2)]
    live.append(*events)
    wait_until(live.folded)
    before = live.log.head(0)
    with scheduled(server.url, partitions=4), job_worker(server.url) as process:
        wait_until(lambda: live.log.head(0) > before + 20)
        process.kill()
        process.wait()
    killed_at = live.log.head(0) - before
    assert 20 < killed_at < 600
    started = StartedJobRegistry(queue=served.queue)
    assert started.get_job_ids(cleanup=False)
    retried = ScheduledJobRegistry(queue=served.queue)
    connection = served.queue.connection
    for registry in (started, retried):  # as if a minute, and then the time until it is tried again, had passed
        connection.zadd(registry.key, dict.fromkeys(connection.zrange(registry.key, 0, -1), 0))
        served.work()
    served.work()
    decided = [decode(one.kind, one.body) for one in live.log.read(0, before, 10_000)]
    assert {(event.owner, event.data.memory_id) for event in decided} == {(o, m) for o in owners for m in ("m0", "m1")}
    assert len({event.event_id for event in decided}) == len(decided) == 600


def test_a_running_job_s_beat_keeps_it_from_being_taken_up_by_another(
    jobs: Jobs, live: Live, served: Served, server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs.tell("ada", *due(1))
    wait_until(live.folded)
    tick(live, server.url)
    started, later = StartedJobRegistry(queue=served.queue), []
    carry_out = LifecycleJobs.carry_out
    worker = served.worker()

    def watched(lifecycle: LifecycleJobs, *arguments: Any, **options: Any) -> Any:
        (job,) = served.queue.connection.zrange(started.key, 0, -1)
        served.queue.connection.zadd(started.key, {job: time.time() - 1})
        worker.beat()
        later.append(served.queue.connection.zscore(started.key, job) - time.time())
        return carry_out(lifecycle, *arguments, **options)

    monkeypatch.setattr(LifecycleJobs, "carry_out", watched)
    with serving(served.serving):
        worker.work(burst=True, logging_level="CRITICAL")
    assert len(later) == 3  # upkeep, the daily jobs, and the levels among them
    assert all(seconds > ABANDONED_SECONDS / 2 for seconds in later)


def test_the_queue_may_lie_on_another_redis(jobs: Jobs, live: Live, server: RedisServer) -> None:
    jobs.tell("ada", *due(3))
    wait_until(live.folded)
    queues = RedisServer(wheel_server())
    try:
        with (
            scheduled(queues.url, partitions=live.log.partitions),
            job_worker(server.url, "--queue-url", queues.url) as process,
        ):
            wait_until(lambda: len(jobs.decided("ada")) == 3)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
            assert process.returncode == 0
        with queues.client() as client:
            assert {key.split(b":")[0] for key in client.scan_iter()} == {b"rq", b"engramlog-jobs"}
        assert not any(key.startswith((b"rq:", b"engramlog-jobs:")) for key in live.client.scan_iter())
    finally:
        queues.stop()


def lifecycle(up: Up) -> Any:
    """What the status of a running `up` tells of its jobs."""
    return get(up, "/v1/status")["lifecycle"]


def test_up_starts_a_job_worker_starts_it_again_and_stops_it_before_the_drain(tmp_path: Path) -> None:
    with running(tmp_path / "store") as up:
        wait_until(lambda: lifecycle(up)["last_tick"])
        os.kill(up.facts("job worker process started")[0]["pid"], signal.SIGKILL)
        second = wait_until(lambda: up.facts("job worker process started")[1:])[0]["pid"]
        assert f"-{up.process.pid}-" in lifecycle(up)["leader"], "the schedule is kept by the process that stays"
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(PATIENCE) == 0
        order = ["api stopped", "job workers stopped", "service drained", "workers stopped", "service stopped"]
        names = [line.partition('"event": "')[2].partition('"')[0] for line in up.log.read_text().splitlines()]
        assert [name for name in names if name in order] == order
        assert not Path(f"/proc/{second}").exists()


def test_a_job_worker_goes_with_its_parent(tmp_path: Path) -> None:
    with running(tmp_path / "store") as up:
        up.ready()
        worker = up.facts("job worker process started")[0]["pid"]
        wait_until(lambda: lifecycle(up)["leader"])
        up.process.kill()
        up.process.wait(PATIENCE)
        wait_until(lambda: not Path(f"/proc/{worker}").exists())


def test_a_job_worker_goes_with_a_parent_that_was_killed_before_the_store_answered(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-P",
        "-m",
        "engramlog_server.ops.job_worker",
        "--url",
        f"unix://{tmp_path}/none.sock",
        "--parent",
    ]
    starting = """import os, subprocess as s, sys
print(s.Popen([*sys.argv[1:], str(os.getpid())], stdout=s.DEVNULL, stderr=s.DEVNULL).pid)"""
    started = subprocess.run(
        [sys.executable, "-c", starting, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=PATIENCE,
        check=True,
    )
    wait_until(lambda: not Path(f"/proc/{int(started.stdout)}").exists())


def test_decisions_are_dated_when_they_were_made_and_say_since_when_they_were_due(jobs: Jobs) -> None:
    jobs.tell("ada", *due(1))
    jobs.lifecycle.carry_out("ada", SWEEP, now=at(300))
    (event,) = jobs.decided("ada")
    assert micros(event.occurred_at) == at(300)
    assert micros(event.data.due_at) < at(300)
