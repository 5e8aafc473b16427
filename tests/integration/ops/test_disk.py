"""A disk that fills: warned of first, then closed to writes while reads go on; never the end of Redis without a word."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest

from engramlog_server.events.errors import EmbeddedRedisError, StoreFull
from engramlog_server.events.redis.alarms import RedisAlarms
from engramlog_server.ops.embedded.disk import MIB, RESERVE, SPARE, Disk, DiskGuard, look
from engramlog_server.ops.embedded.folder import unusable
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, open_the_store
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from tests.given.samples import mention
from tests.integration.live import live_store, wait_until
from tests.integration.ops.test_up import EVENT, get, post, running
from tests.servers import NO_DISK, RedisServer

ROOMY = Disk(free=50_000 * MIB, total=100_000 * MIB, log=300 * MIB)


@pytest.mark.parametrize(
    ("disk", "is_low", "is_full"),
    [
        (ROOMY, False, False),
        (ROOMY._replace(free=300 * MIB + SPARE), False, False),
        (ROOMY._replace(free=300 * MIB + SPARE - 1), True, False),
        (ROOMY._replace(free=RESERVE), True, False),
        (ROOMY._replace(free=RESERVE - 1), True, True),
        (Disk(free=3 * MIB, total=40 * MIB, log=0), True, False),
        (Disk(free=2 * MIB - 1, total=40 * MIB, log=0), True, True),
    ],
)
def test_a_disk_is_low_without_room_for_a_rewrite_and_full_shortly_before_its_end(
    disk: Disk, is_low: bool, is_full: bool
) -> None:
    assert (disk.is_low, disk.is_full) == (is_low, is_full)


class Watched:
    """An embedded store, its guard, and a disk that stands as the test says."""

    def __init__(self, store: OpenStore) -> None:
        assert store.embedded is not None
        self.store, self.folder, self.disk = store, store.embedded.folder, ROOMY
        self.guard = DiskGuard(self.folder, store.client, store.alarms, lambda: self.disk)

    def stands(self, free: int) -> list[str]:
        """The disk has so many bytes free; which alarms stand once that was looked at."""
        self.disk = self.disk._replace(free=free)
        self.guard.check()
        assert isinstance(self.store.alarms, RedisAlarms)
        return sorted(alarm.name for alarm in self.store.alarms.standing())


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with open_the_store(Settings(data=tmp_path / "store", partitions=2)) as store:
        yield Watched(store)


def test_a_low_disk_is_a_warning_that_goes_by_itself(watched: Watched) -> None:
    assert watched.stands(ROOMY.free) == []
    assert watched.stands(200 * MIB) == ["disk_low"]
    assert watched.store.log.append([mention(1)])[0].written
    assert watched.stands(ROOMY.free) == []


def test_a_full_disk_takes_no_writes_and_the_refusal_names_it_while_reads_go_on(watched: Watched) -> None:
    assert watched.store.log.append([mention(1)])[0].written
    assert watched.stands(10 * MIB) == ["disk_full"]
    with pytest.raises(StoreFull) as refusal:
        watched.store.log.append([mention(2)])
    assert str(watched.folder) in refusal.value.message
    assert "10.0 MiB free of 100,000.0 MiB; 32.0 MiB are needed" in refusal.value.message
    assert sum(watched.store.log.head(p) for p in range(2)) == 1
    assert watched.stands(RESERVE + 1) == ["disk_full"], "a little room would be gone at once"
    assert watched.stands(ROOMY.free) == []
    assert watched.store.log.append([mention(2)])[0].written


def test_a_guard_opens_a_server_that_was_started_closed(watched: Watched) -> None:
    watched.store.client.config_set("min-replicas-to-write", "1")
    assert watched.stands(ROOMY.free) == []
    assert watched.store.log.append([mention(1)])[0].written


def test_a_command_on_a_full_disk_answers_and_refuses_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data=tmp_path / "store", partitions=2)
    with open_the_store(settings) as store:
        assert store.log.append([mention(1)])[0].written
    monkeypatch.setattr("engramlog_server.ops.store.look", lambda _folder: ROOMY._replace(free=20 * MIB))
    with open_the_store(settings) as store:
        assert sum(store.log.head(p) for p in range(2)) == 1
        with pytest.raises(StoreFull, match=r"20\.0 MiB free"):
            store.log.append([mention(2)])


def test_a_torn_tail_that_the_embedded_server_cut_off_is_an_alarm_until_somebody_has_looked(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "store", partitions=2)
    with open_the_store(settings) as store:
        (receipt,) = store.log.append([mention(1)])
        assert receipt.fsynced is True
    folder = tmp_path / "store"
    file = min([*folder.glob("appendonlydir/*.incr.aof"), *folder.glob("appendonly.aof")])
    with file.open("ab") as torn:
        torn.write(b"*3\r\n$3\r\nSET\r\n$4\r\nhalf")
    with open_the_store(settings) as store:
        assert isinstance(store.alarms, RedisAlarms)
        assert [alarm.name for alarm in store.alarms.standing()] == ["log_cut"]
        assert store.log.append([mention(2)])[0].fsynced is True
    with open_the_store(settings) as store:
        assert [alarm.count for alarm in store.alarms.standing()] == [1]  # type: ignore[attr-defined]


def test_a_worker_tells_the_same_refusal_once_however_often_it_meets_it(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.append(store.created("ada", "m1"))
        store.client.config_set("min-replicas-to-write", "1")

        def attempts() -> int:
            return int(store.client.info("commandstats").get("cmdstat_time", {}).get("calls", 0))

        before = attempts()
        store.start_worker("w1")
        wait_until(lambda: attempts() > before + 5)
        refused = store.told("store refused")
        assert len({fact["reason"] for fact in refused}) == len(refused)
        store.client.config_set("min-replicas-to-write", "0")
        wait_until(store.folded)


ROOM_FOR_A_LEASE = 300_000
"""Bytes of memory in which a worker can take a partition, and not commit 800 kB to it."""


def test_a_worker_without_memory_to_commit_in_does_not_tell_each_time_that_it_takes_its_partition_again(
    redis_server: RedisServer,
) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        for number in range(20):
            store.append(store.created("ada", f"m{number}", content="tea " * 10_000))
        used = int(store.client.info("memory")["used_memory"])
        store.client.config_set("maxmemory", used + ROOM_FOR_A_LEASE)
        store.start_worker("w1")
        checkpoint = BuildKeys(store.identity.tags[0], FIRST_BUILD).checkpoint
        wait_until(lambda: int(store.client.hget(checkpoint, "epoch") or 0) >= 3)
        assert len(store.told("partitions taken")) == 1
        assert "maxmemory" in store.told("store refused")[0]["reason"]
        store.client.config_set("maxmemory", "0")
        wait_until(store.folded)


def test_a_folder_that_cannot_be_written_for_want_of_room_is_no_bad_input(tmp_path: Path) -> None:
    error = unusable(tmp_path, OSError(28, "No space left on device"))
    assert (type(error), error.exit_code) == (EmbeddedRedisError, 1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real disk of 60 MiB. Where none may be mounted, the tests above play it, and this one is told as skipped."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"{NO_DISK}: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_up_on_a_real_disk_that_fills_serves_reads_refuses_by_name_and_goes_on_when_there_is_room(
    small_disk: Path,
) -> None:
    ballast = small_disk / "ballast"
    with running(small_disk / "store") as up:
        up.ready()
        position = post(up, [EVENT])["receipts"][0]["position"]
        disk = look(small_disk / "store")
        ballast.write_bytes(b"x" * (disk.free - disk.reserve * 3 // 4))
        wait_until(lambda: any(fact["name"] == "disk_full" for fact in up.facts("alarm raised")))
        with pytest.raises(HTTPError) as refusal:
            post(up, [EVENT | {"event_id": "01890000-0000-7000-8000-000000000002"}])
        problem = json.load(refusal.value)
        assert (problem["status"], str(small_disk) in problem["detail"]) == (507, True)
        assert get(up, f"/v1/owners/alice/memories/m1?after={position}")["id"] == "m1"
        assert up.process.poll() is None
        ballast.unlink()
        wait_until(lambda: any(fact["name"] == "disk_full" for fact in up.facts("alarm cleared")))
        assert post(up, [EVENT | {"event_id": "01890000-0000-7000-8000-000000000003"}])["receipts"][0]["position"]
