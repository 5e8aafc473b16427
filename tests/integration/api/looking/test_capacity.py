"""Memory and disk until they are full: what is measured is what was recorded, and what cannot be known is null with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.services.capacity import ELSEWHERE, AppendOnlyFile, Capacities, DiskRoom, Kept
from engramlog_server.events.partitions import LogKeys
from tests.given.http import HttpStore, created, http_store, mentioned

DAY = 86_400_000_000
AOF = AppendOnlyFile(True, 60_000, 30_000, True, True, False, None, 0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[HttpStore]:
    with http_store(tmp_path / "store") as opened:
        for owner in ("alice", "林", "bo"):
            opened.told(owner, created("tea", "I drink tea"), *(mentioned("tea", key=n) for n in range(9)))
        yield opened


def aged(store: HttpStore, days: float, *, keep: int = 0) -> None:
    """As if all but the newest events of each partition had been recorded so many days ago."""
    client = store.store.client
    for tag in store.store.identity.tags:
        stream = LogKeys(tag).stream
        entries = list(client.xrange(stream))
        client.delete(stream)
        for number, (entry_id, fields) in enumerate(entries):
            back = int(days * DAY) if number < len(entries) - keep else 0
            client.xadd(stream, fields | {b"r": b"%d" % (int(fields[b"r"]) - back)}, id=entry_id)


def capacity(store: HttpStore, kept: Kept | None = None, **asked: Any) -> Any:
    there = store.application.capacities
    if kept is not None:
        there = Capacities(store.store.wires, store.store.identity.tags, lambda: kept)
    return there.capacity(**asked)


def test_a_log_that_is_just_begun_tells_what_is_there_and_no_growth(store: HttpStore) -> None:
    told = store.client.get("/v1/capacity").json()
    assert (told["events"], told["growth"]["events"], told["growth"]["events_a_day"]) == (30, 30, None)
    assert "too short a time" in told["growth"]["basis"]
    memory, disk = told["memory"], told["disk"]
    assert memory["used_bytes"] > 0
    assert (memory["days_until_full"], memory["full_at"]) == (None, None)
    assert memory["unknown"] == "the log is too young to measure its growth"
    assert 0 < disk["reserve_bytes"] < disk["wanted_bytes"]
    assert disk["free_bytes"] <= disk["total_bytes"]
    assert (told["aof"]["enabled"], told["aof"]["bytes"] > 0) == (True, True)


def test_growth_is_what_was_recorded_in_the_days_asked_for(store: HttpStore) -> None:
    aged(store, 20, keep=2)
    partitions = sum(1 for one in store.application.operator.status()["partitions"] if one["head"])
    told = capacity(store, days=10)
    assert (told["growth"]["days"], told["growth"]["events"]) == (10.0, 2 * partitions)
    assert told["growth"]["events_a_day"] == pytest.approx(2 * partitions / 10, abs=0.06)
    all_of_it = capacity(store, days=366)["growth"]
    assert (all_of_it["events"], round(all_of_it["days"])) == (30, 20)
    assert "as old as the log is" in all_of_it["basis"]


def test_a_disk_is_low_before_it_is_full(store: HttpStore) -> None:
    aged(store, 10)
    disk = capacity(store, Kept("7", AOF, DiskRoom(1_000_000, 2_000_000, 160_000, 40_000), None), days=366)["disk"]
    a_day = disk["bytes_a_day"]
    assert a_day == pytest.approx(6_000, rel=0.01)
    assert disk["days_until_full"] == pytest.approx(960_000 / a_day, abs=0.1)
    assert disk["days_until_low"] == pytest.approx(840_000 / (2 * a_day), abs=0.1)
    assert disk["low_at"] < disk["full_at"]
    assert "what others write to the disk is not counted" in disk["basis"]


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        (Kept("7", AOF, None, None), ELSEWHERE),
        (Kept("7", AOF, None, "no such folder"), "the data folder's disk cannot be looked at: no such folder"),
        (
            Kept("7", AOF._replace(enabled=False, bytes=None), DiskRoom(9, 9, 1, 1), None),
            "Redis writes no append-only file",
        ),
    ],
)
def test_a_disk_of_which_nothing_is_known_says_why(store: HttpStore, kept: Kept, told: str) -> None:
    aged(store, 10)
    disk = capacity(store, kept)["disk"]
    assert (disk["unknown"], disk["days_until_full"], disk["full_at"], disk["basis"]) == (told, None, None, None)


@pytest.mark.parametrize("days", ["0", "367", "x", "-1"])
def test_days_that_cannot_be_are_refused(store: HttpStore, days: str) -> None:
    answer = store.client.get("/v1/capacity", params={"days": days})
    assert (answer.status_code, answer.json()["field"]) == (422, "days")
