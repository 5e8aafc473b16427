"""Entries that older rules judged are read again by the daily job, once; what newer rules find is appended as raised levels."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from consumers import redis_levels
from consumers.redis_levels import Levels
from events.catalogue import SensitivityRaised
from events.partitions import LogKeys, partition_of
from events.redis_wire import Wire
from projections import sensitivity_level
from projections.lifecycle import LEVELS, rereading
from tests.given import Told, created
from tests.integration.live import Live, live_store, wait_until
from tests.integration.served import Served
from tests.integration.test_lifecycle_jobs import Jobs, poison
from tests.patience import PATIENCE
from tests.servers import RedisServer, Servers
from tests.tampering import findings

DIARY = "The novel begins at sea, long ago. My password is hunter2-Xq9! So says its hero."
TEA = "I like tea, and I like it in the morning more than in the evening."


@pytest.fixture
def server(redis_servers: Servers) -> RedisServer:
    return redis_servers.get("redis-6.2")


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


@pytest.fixture
def told(jobs: Jobs, live: Live, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Owners of whom older rules, which found nothing, judged all; from then on there are newer ones."""
    owners = tuple(f"owner-{n}" for n in range(4))
    with monkeypatch.context() as older:
        older.setattr(sensitivity_level, "detect_sensitivity", lambda _text: 0)
        for owner in owners:
            jobs.tell(owner, created(DIARY), created(TEA, "n"))
        wait_until(live.folded)
    for module in (rereading, redis_levels):
        monkeypatch.setattr(module, "LEVEL_RULES", sensitivity_level.LEVEL_RULES + 1)
    return owners


def levels(jobs: Jobs, owner: str) -> dict[str, int]:
    head = jobs.live.log.owner_head(owner)
    with jobs.views.view(owner, after=head, wait_seconds=PATIENCE) as (view, _):
        return {one.id: one.sensitivity for one in view.columns.memories}


def raised(jobs: Jobs, owner: str) -> list[Told]:
    return [one.data for one in jobs.decided(owner) if isinstance(one.data, SensitivityRaised)]


def waiting(live: Live, partition: int) -> list[str]:
    wire = Wire(live.client)
    return Levels(wire, live.log, live.identity.tags[partition], partition).waiting().owners


def test_a_rehearsal_tells_what_would_rise_and_appends_nothing(jobs: Jobs, told: tuple[str, ...]) -> None:
    done = jobs.lifecycle.plan(told[0], (LEVELS,))
    assert [(one.action, one.ids) for one in done.decisions] == [("raise", ("m",))]
    assert raised(jobs, told[0]) == []
    assert levels(jobs, told[0]) == {"m": 0, "n": 0}


def test_the_daily_job_raises_what_newer_rules_find_and_reads_nothing_twice(
    jobs: Jobs, live: Live, served: Served, told: tuple[str, ...]
) -> None:
    for partition in range(2):
        served.run("daily", partition)
    for owner in told:
        assert levels(jobs, owner) == {"m": 3, "n": 0}
        assert [one.level for one in raised(jobs, owner)] == [3]
    before = [live.log.head(partition) for partition in range(2)]
    for partition in range(2):
        served.run("daily", partition)
    assert [live.log.head(partition) for partition in range(2)] == before
    assert [waiting(live, partition) for partition in range(2)] == [[], []]


def test_by_hand_it_raises_as_the_job_does_and_run_again_nothing(jobs: Jobs, told: tuple[str, ...]) -> None:
    assert jobs.lifecycle.carry_out(told[0], (LEVELS,)).appended == 1
    assert jobs.lifecycle.carry_out(told[0], (LEVELS,)).appended == 0
    assert levels(jobs, told[0]) == {"m": 3, "n": 0}


def test_an_owner_that_cannot_be_read_now_is_read_another_day(
    jobs: Jobs, live: Live, served: Served, told: tuple[str, ...]
) -> None:
    number = partition_of(told[0], 2)
    poison(live, told[0])
    wait_until(live.folded)
    served.run("daily", number)
    assert waiting(live, number) == [told[0]]
    for owner in told[1:]:
        if partition_of(owner, 2) == number:
            assert levels(jobs, owner)["m"] == 3


def test_a_mark_that_is_damaged_or_of_other_rules_is_no_mark(
    jobs: Jobs, live: Live, served: Served, told: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    number = partition_of(told[0], 2)
    served.run("daily", number)
    served.run("daily", number)
    key = LogKeys(live.identity.tags[number]).levels
    assert waiting(live, number) == []
    for module in (rereading, redis_levels):
        monkeypatch.setattr(module, "LEVEL_RULES", sensitivity_level.LEVEL_RULES + 2)
    assert told[0] in waiting(live, number)
    for damaged in (b"", b"\xff", b"\x93\x02\xff\x90"):
        live.client.hset(key, "read", damaged)
        assert told[0] in waiting(live, number)
    assert jobs.live is live


def test_a_mark_that_no_job_wrote_is_told_by_a_verification(jobs: Jobs, live: Live, served: Served) -> None:
    """One beyond the log would keep entries from ever being read again."""
    jobs.tell("ada", created(DIARY))
    wait_until(live.folded)
    number = partition_of("ada", 2)
    served.run("daily", number)
    wait_until(live.folded)
    assert findings(live) == []
    key = LogKeys(live.identity.tags[number]).levels
    written = live.client.hget(key, "read")
    for wrong in (b"\xff", written + b"\x00", msgspec.msgpack.encode((2, 10**9, ()))):
        live.client.hset(key, "read", wrong)
        assert [one["what"] for one in findings(live)] == ["how far levels were read again, which no job wrote"]
