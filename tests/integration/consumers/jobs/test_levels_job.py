"""Entries that older rules judged are read again by the daily job, once; what newer rules find is appended as raised levels."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from engramlog_server.consumers.verify import partition as redis_levels
from engramlog_server.consumers.verify.partition import Levels
from engramlog_server.events.catalogue import SensitivityRaised, SensitivitySet
from engramlog_server.events.envelope import Marker, Marks, from_micros, prepare
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.events.validation import make_event
from engramlog_server.projections.language.sensitivity import level as sensitivity_level
from engramlog_server.projections.lifecycle import LEVELS, extraction
from tests.given.events import Told, created
from tests.integration.consumers.jobs.test_lifecycle_jobs import Jobs, poison
from tests.integration.live import Live, live_store, wait_until
from tests.integration.served import Served
from tests.patience import PATIENCE
from tests.servers import RedisServer
from tests.tampering import findings

DIARY = "The novel begins at sea, long ago. My password is hunter2-Xq9! So says its hero."
TEA = "I like tea, and I like it in the morning more than in the evening."


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
    for module in (extraction, redis_levels):
        monkeypatch.setattr(module, "LEVEL_RULES", sensitivity_level.LEVEL_RULES + 1)
    return owners


def levels(jobs: Jobs, owner: str) -> dict[str, int]:
    head = jobs.live.log.owner_head(owner)
    with jobs.views.view(owner, after=head, wait_seconds=PATIENCE) as (view, _):
        return {one.id: one.sensitivity for one in view.columns.memories}


def raised(jobs: Jobs, owner: str) -> list[Told]:
    return [one.data for one in jobs.decided(owner) if isinstance(one.data, SensitivityRaised)]


def waiting(live: Live, partition: int) -> list[str]:
    wire = open_wire(live.client)
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
    for module in (extraction, redis_levels):
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


@pytest.fixture
def judged(live: Live, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Owners whose entries say that older rules looked and found nothing; from then on there are newer ones."""
    owners = tuple(f"owner-{n}" for n in range(4))
    older = Marker(sensitivity_level.LEVEL_RULES, 1, lambda _event: Marks(0, ()))
    log = RedisEventLog(live.client, live.identity.tags, marker=older)
    for owner in owners:
        log.append([live.event(created(text, memory_id).data, owner) for text, memory_id in ((DIARY, "m"), (TEA, "n"))])
    log.close()
    wait_until(live.folded)
    for module in (extraction, redis_levels):
        monkeypatch.setattr(module, "LEVEL_RULES", sensitivity_level.LEVEL_RULES + 1)
    return owners


def owners_in(live: Live, number: int, owners: tuple[str, ...]) -> set[str]:
    return {owner for owner in owners if partition_of(owner, len(live.identity.tags)) == number}


def test_a_mark_that_hides_what_is_to_be_read_is_found_and_any_other_hides_nothing(
    live: Live, judged: tuple[str, ...]
) -> None:
    """Whoever writes the mark: either a verification names the owners that it hides, or the job reads them all the same."""
    wait_until(live.folded)
    rules = redis_levels.LEVEL_RULES
    for number in range(2):
        mine, head = owners_in(live, number, judged), live.log.head(number)
        key = LogKeys(live.identity.tags[number]).levels
        lefts: list[tuple[str, ...]] = [(), ("nobody",), *((owner,) for owner in mine), tuple(sorted(mine))]
        marks = [
            (r, seq, left)
            for r in (0, rules - 1, rules, 99)
            for seq in (-1, 0, 1, head - 1, head, head + 9)
            for left in lefts
        ]
        assert mine
        for mark in marks:
            live.client.hset(key, "read", msgspec.msgpack.encode(mark))
            hidden = mine - set(waiting(live, number))
            found = [one for one in findings(live) if "behind the mark" in one["what"]]
            assert {one["owner"] for one in found} == hidden, mark
            assert all(one["memories"] == ["m"] for one in found)
        live.client.delete(key)


def test_after_the_daily_job_a_verification_has_nothing_to_say_of_its_mark(
    jobs: Jobs, live: Live, served: Served, judged: tuple[str, ...]
) -> None:
    for number in range(2):
        served.run("daily", number)
    wait_until(live.folded)
    assert findings(live) == []
    assert [waiting(live, number) for number in range(2)] == [[], []]
    assert {levels(jobs, owner)["m"] for owner in judged} == {3}


def test_what_a_person_judged_by_hand_is_no_trouble_to_a_verification(
    jobs: Jobs, live: Live, served: Served, judged: tuple[str, ...]
) -> None:
    live.append(live.event(SensitivitySet(memory_id="m", level=1, reason="a novel"), judged[0]))
    wait_until(live.folded)
    for number in range(2):
        served.run("daily", number)
    wait_until(live.folded)
    assert levels(jobs, judged[0])["m"] == 1
    assert findings(live) == []


def test_owners_whose_raise_is_not_folded_yet_are_left_to_the_next_verification(
    live: Live, judged: tuple[str, ...]
) -> None:
    live.stop_worker("folder")
    number = partition_of(judged[0], 2)
    for owner in owners_in(live, number, judged):
        data = SensitivityRaised(memory_id="m", level=3, rules=redis_levels.LEVEL_RULES)
        now = live.log.now()
        live.append(prepare(make_event(data, owner=owner, occurred_at=from_micros(now), actor="system", now=now)))
    key = LogKeys(live.identity.tags[number]).levels
    live.client.hset(key, "read", msgspec.msgpack.encode((redis_levels.LEVEL_RULES, live.log.head(number), ())))
    assert findings(live) == []
    live.start_worker("folder again")
    wait_until(live.folded)
    assert findings(live) == []
