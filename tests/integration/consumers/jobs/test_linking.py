"""What is new is linked by the next run of the linking job, by whatever door it came, once; the daily job then adds nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engramlog_server.consumers.jobs import linking
from engramlog_server.consumers.jobs.leader import done_field, folded_field, schedule_key
from engramlog_server.consumers.jobs.linking import LinkingJob, folded_to
from engramlog_server.consumers.jobs.run import LINKING, LINKS, run, serving
from engramlog_server.consumers.jobs.scheduler import DueJobs, JobScheduler
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.wire import open_wire
from tests.given.events import Told, accessed, created, parameters
from tests.integration.consumers.jobs.test_lifecycle_jobs import Jobs
from tests.integration.live import Live, live_store, wait_until
from tests.integration.served import Served
from tests.servers import RedisServer

COFFEE = created("I drink strong black coffee in the morning", "a")
TEA = created("In the morning I like strong black tea", "b")
LATER = created("Strong black tea is what I drink at night", "c", day=1)
OWNERS = ("ada", "bo", "林")


@pytest.fixture
def live(server: RedisServer) -> Iterator[Live]:
    with live_store(server.url, partitions=2) as store:
        store.start_worker("folder")
        yield store


@pytest.fixture
def jobs(live: Live) -> Iterator[Jobs]:
    made = Jobs(live)
    yield made
    made.views.close()


@pytest.fixture
def served(live: Live, server: RedisServer) -> Iterator[Served]:
    made = Served(live, server.url)
    yield made
    made.queue.connection.close()


def linked(jobs: Jobs, owner: str) -> list[set[str]]:
    return [{one.data.a, one.data.b} for one in jobs.decided(owner) if one.type == "MemoriesLinked"]  # type: ignore[union-attr]


def ticked(live: Live, tick: int) -> int:
    """One tick's jobs in the queue; how many they were."""
    due = DueJobs(open_wire(live.client), open_wire(live.client), live.identity.store_id, live.identity.tags, None)
    cron = JobScheduler(live.client, live.identity.store_id, 2, "scheduler", kinds=LINKING, due=due)
    return cron.enqueue(LINKS, tick * 300_000)


def told(jobs: Jobs, owner: str, *events: Told) -> None:
    jobs.tell(owner, *events)
    wait_until(jobs.live.folded)


def test_raw_events_are_linked_by_the_next_run_and_the_daily_job_adds_nothing(
    jobs: Jobs, live: Live, served: Served
) -> None:
    for owner in OWNERS:
        told(jobs, owner, COFFEE, TEA)
    assert ticked(live, 1) == len({partition_of(owner, 2) for owner in OWNERS})
    served.work()
    assert {owner: linked(jobs, owner) for owner in OWNERS} == {owner: [{"a", "b"}] for owner in OWNERS}
    wait_until(live.folded)
    for partition in range(2):
        served.run("daily", partition)
    assert all(len(linked(jobs, owner)) == 1 for owner in OWNERS)


def test_a_later_run_looks_only_at_what_is_new(
    jobs: Jobs, live: Live, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    link = LinkingJob.link
    monkeypatch.setattr(LinkingJob, "link", lambda self, new, go_on: asked.append(new.ids) or link(self, new, go_on))
    told(jobs, "ada", COFFEE, TEA)
    ticked(live, 1)
    served.work()
    wait_until(live.folded)
    told(jobs, "ada", accessed("a", day=1), LATER)
    ticked(live, 2)
    served.work()
    assert [sorted(ids) for ids in asked] == [["a", "b"], ["c"]]
    assert linked(jobs, "ada")[0] == {"a", "b"}
    assert all("c" in pair for pair in linked(jobs, "ada")[1:])


def test_where_nothing_was_folded_no_job_is_enqueued_and_it_is_noted_as_done(
    jobs: Jobs, live: Live, served: Served
) -> None:
    assert ticked(live, 1) == 0
    key = schedule_key(live.identity.store_id)
    assert all(live.client.hget(key, done_field(LINKS, partition)) for partition in range(2))
    told(jobs, "ada", COFFEE, TEA)
    partition = partition_of("ada", 2)
    assert ticked(live, 2) == 1
    served.work()
    noted = int(live.client.hget(key, folded_field(LINKS, partition)) or 0)
    assert noted == 2
    wait_until(live.folded)
    ticked(live, 3)  # the link itself was folded
    served.work()
    assert int(live.client.hget(key, folded_field(LINKS, partition)) or 0) == folded_to(
        open_wire(live.client), live.identity.tags[partition]
    )
    assert ticked(live, 4) == 0
    assert len(linked(jobs, "ada")) == 1


def test_run_twice_at_once_or_killed_before_it_is_noted_it_links_once(jobs: Jobs, live: Live, served: Served) -> None:
    told(jobs, "ada", COFFEE, TEA)
    partition = partition_of("ada", 2)
    counts = [served.run(LINKS, partition) for _ in range(2)]  # outside of a queue nothing is noted
    assert [(one["failed"], one["decided"]) for one in counts] == [(0, 1), (0, 0)]
    assert linked(jobs, "ada") == [{"a", "b"}]


def test_very_many_at_once_are_compared_as_by_the_daily_job(
    jobs: Jobs, live: Live, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "MANY", 1)
    told(jobs, "ada", COFFEE, TEA, LATER)
    assert next(
        iter(LinkingJob(open_wire(live.client), live.identity.tags, jobs.lifecycle).new(partition_of("ada", 2), 0))
    ).many
    served.run(LINKS, partition_of("ada", 2))
    assert {"a", "b"} in linked(jobs, "ada")


def test_new_memories_are_found_page_by_page_among_what_changed(
    jobs: Jobs, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "PAGE", 2)
    told(jobs, "ada", *(created(f"thing {n}", f"m{n}") for n in range(5)))
    partition = partition_of("ada", 2)
    job, since = (
        LinkingJob(open_wire(live.client), live.identity.tags, jobs.lifecycle),
        folded_to(open_wire(live.client), live.identity.tags[partition]),
    )
    assert list(job.new(partition, since)) == []
    told(jobs, "ada", accessed("m0", day=1), accessed("m1", day=1), created("new", "n"), accessed("m2", day=1))
    assert [(one.owner, one.ids) for one in job.new(partition, since)] == [("ada", ("n",))]
    assert [set(one.ids) for one in job.new(partition, 0)] == [{"m0", "m1", "m2", "m3", "m4", "n"}]


def test_whom_the_owners_parameters_turn_it_off_for_is_not_linked(jobs: Jobs, live: Live, served: Served) -> None:
    told(jobs, "ada", parameters(related_similarity=1.0), COFFEE, TEA)
    assert served.run(LINKS, partition_of("ada", 2))["decided"] == 0
    assert linked(jobs, "ada") == []


def test_a_store_that_came_back_shorter_is_looked_at_from_its_beginning(jobs: Jobs, live: Live, served: Served) -> None:
    told(jobs, "ada", COFFEE, TEA)
    live.client.hset(schedule_key(live.identity.store_id), folded_field(LINKS, partition_of("ada", 2)), 9_999)
    ticked(live, 1)
    served.work()
    assert linked(jobs, "ada") == [{"a", "b"}]


def test_an_owner_in_trouble_stops_nobody_else(
    jobs: Jobs, live: Live, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = [owner for owner in (f"owner-{n}" for n in range(20)) if partition_of(owner, 2) == 0][:2]
    for owner in same:
        told(jobs, owner, COFFEE, TEA)
    link = LinkingJob.link

    def fails(self, new, go_on):
        if new.owner == same[0]:
            raise ValueError("trouble")
        return link(self, new, go_on)

    monkeypatch.setattr(LinkingJob, "link", fails)
    with serving(served.serving):
        counts = run(LINKS, served.store_id, 0, "20260101T0000")
    assert isinstance(counts, dict)
    assert (counts["failed"], [len(linked(jobs, owner)) for owner in same]) == (1, [0, 1])
