"""Processes that share a command's partitions: the same comes of it, and whatever ends one ends all, in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.processes import shares
from engramlog_server.ops.processes.shares import PartitionDone, PartitionTask, Work, do_all, process_count
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.store import take_lease
from tests.integration.consumers.fold.test_rebuild import fill
from tests.integration.live import Live, live_store, wait_until
from tests.patience import PATIENCE
from tests.servers import RedisServer

NEXT = f"{FIRST_BUILD}.1"
PARTITIONS = 4
HELD_MS = 9_000
"""Less than a rebuild waits for: one that was killed held it so long."""


@pytest.fixture
def store(redis_server: RedisServer) -> Iterator[Live]:
    with live_store(redis_server.url, partitions=PARTITIONS) as live:
        live.start_worker("w1")
        fill(live)
        wait_until(live.folded)
        yield live


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Processes that were started."""
    found: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def recorded(*given: Any, **more: Any) -> subprocess.Popen[bytes]:
        found.append(start(*given, **more))
        return found[-1]

    monkeypatch.setattr(shares.subprocess, "Popen", recorded)
    return found


def tasks(store: Live) -> list[PartitionTask]:
    return [PartitionTask(number, tag, [1]) for number, tag in enumerate(store.identity.tags)]


def done(store: Live, url: str, work: Work, count: int, on_wait: Any = print) -> list[PartitionDone]:
    with closing(
        do_all(work, store.client, {"ENGRAMLOG_REDIS_URL": url}, tasks(store), count, lambda *_: None, on_wait)
    ) as parts:
        return sorted(parts)


def held_by_another(store: Live, partition: int) -> BuildKeys:
    """Somebody who was killed just now held the next build of a partition."""
    keys, wire = BuildKeys(store.identity.tags[partition], NEXT), open_wire(store.client)
    now_ms = int(wire.call("TIME")[0]) * 1_000
    assert take_lease(wire, keys, "killed", now_ms=now_ms, ttl_ms=HELD_MS, must_be_live=False)
    wire.close()
    return keys


def test_two_processes_find_and_fold_what_one_does(store: Live, redis_server: RedisServer) -> None:
    by_one, by_two = (done(store, redis_server.url, "verify", count) for count in (1, 2))
    assert by_two == by_one
    switched = done(store, redis_server.url, "rebuild", 2)
    assert [one.rebuilt and (one.partition, one.rebuilt.new) for one in switched] == [
        (number, NEXT) for number in range(PARTITIONS)
    ]
    wait_until(store.folded)
    again = done(store, redis_server.url, "verify", 2)
    assert again == by_one
    assert sum(one.found.memories for one in again if one.found) == 50


def test_an_error_in_one_process_is_told_as_in_this_one_and_ends_the_others(
    store: Live, redis_server: RedisServer, started: list[subprocess.Popen[bytes]]
) -> None:
    tag = store.identity.tags[2]
    wire = open_wire(store.client)
    wire.call("XDEL", f"{{{tag}}}:ev", "2-0")
    wire.close()
    with pytest.raises(EngramlogError) as here:
        rebuild_partition(store.client, tag, holder="here")
    with pytest.raises(EngramlogError) as there:
        done(store, redis_server.url, "rebuild", 2)
    assert there.value.told is not None
    assert (there.value.told["error"], there.value.message) == ("LogGap", here.value.message)
    assert there.value.exit_code == here.value.exit_code
    assert len(started) == 2
    assert None not in {process.returncode for process in started}


def test_a_process_that_is_killed_is_told_with_its_partition_and_ends_the_others(
    store: Live, redis_server: RedisServer, started: list[subprocess.Popen[bytes]]
) -> None:
    held_by_another(store, 0)

    def kill(_told: str) -> None:
        for process in started:
            process.kill()

    with pytest.raises(
        EngramlogError, match=r"partition \d ended with signal 9; the others were ended: engramlog rebu"
    ):
        done(store, redis_server.url, "rebuild", 2, kill)
    assert None not in {process.returncode for process in started}


def test_whoever_interrupts_ends_all_processes_and_no_lease_is_left(
    store: Live, redis_server: RedisServer, started: list[subprocess.Popen[bytes]]
) -> None:
    for partition in range(PARTITIONS):
        held_by_another(store, partition)

    def interrupt(_told: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        done(store, redis_server.url, "rebuild", 2, interrupt)
    holders = {store.client.hget(BuildKeys(tag, NEXT).checkpoint, "holder") for tag in store.identity.tags}
    assert holders == {b"killed"}
    assert None not in {process.returncode for process in started}


def test_a_command_that_is_killed_leaves_no_process_at_work(store: Live, redis_server: RedisServer) -> None:
    command = [sys.executable, "-P", "-m", "engramlog_server.ops.main", "rebuild", "--processes", "2", "--json"]
    environment = os.environ | {"ENGRAMLOG_REDIS_URL": redis_server.url}
    before = connections(store)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: connections(store) > before)
        keys = held_by_another(store, 0)  # its processes have yet to start
        wait_until(lambda: store.client.hget(BuildKeys(store.identity.tags[3], NEXT).checkpoint, "epoch"))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        wait_until(lambda: connections(store) <= before)
    finally:
        process.kill()
        process.communicate()
    assert store.client.hget(keys.checkpoint, "holder") == b"killed"


def connections(store: Live) -> int:
    return len(store.client.client_list())


def test_the_commands_tell_the_same_by_two_processes(store: Live, redis_server: RedisServer) -> None:
    told = [answer(redis_server, "verify", "--processes", count) for count in ("1", "2")]
    assert told[0] == told[1]
    assert told[1]["ok"]
    switched = answer(redis_server, "rebuild", "--processes", "2")
    assert [one["partition"] for one in switched["switched"]] == list(range(PARTITIONS))
    assert switched["done_before"] == []
    assert store.client.exists("engramlog:rebuild") == 0


def answer(redis_server: RedisServer, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", *arguments, "--json"],
        env=os.environ | {"ENGRAMLOG_REDIS_URL": redis_server.url},
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("asked", "partitions", "events", "count"),
    [(None, 16, 49_999, 1), (3, 16, 0, 3), (8, 4, 10, 4), (None, 0, 10**6, 1), (None, 1, 10**6, 1)],
)
def test_a_process_more_is_started_where_it_pays_or_is_asked_for(
    asked: int | None, partitions: int, events: int, count: int
) -> None:
    assert process_count(asked, partitions, events) == count
