"""Fold workers as processes on a Redis of one's own: an even spread, hand-over at once, take-over within seconds."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest

from engramlog_server.ops.keys.master import make_key_file
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from tests.acceptance.helpers.cli import run, start
from tests.acceptance.helpers.store import Store
from tests.given.events import created, mentioned
from tests.integration.live import wait_until
from tests.patience import PATIENCE
from tests.servers import RedisServer


@pytest.fixture
def store(server: RedisServer) -> Iterator[Store]:
    with open_application(Settings(redis_url=server.url)) as application:
        yield Store(application)


@contextmanager
def workers(
    server: RedisServer, count: int, settings: Mapping[str, str] = MappingProxyType({})
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many `engramlog worker` processes, ended by their ids at the latest here. `settings`: beside the Redis."""
    running = [start(["worker"], {"ENGRAMLOG_REDIS_URL": server.url, **settings}) for _ in range(count)]
    try:
        yield running
    finally:
        for process in running:
            process.kill()
            process.communicate()


def holders(store: Store) -> Counter[str]:
    """How many partitions each worker holds."""
    return Counter(p["holder"] for p in store.operator.status()["partitions"] if p["holder"])


def spread(store: Store, *shares: int) -> Counter[str]:
    """Waits until the partitions are spread in these shares over workers that live."""
    wait_until(lambda: sorted(holders(store).values()) == sorted(shares))
    return holders(store)


def of(process: subprocess.Popen[bytes], held: Iterable[str]) -> str:
    """The name of a process among the holders, or nothing."""
    return next((name for name in held if f"-{process.pid}-" in name), "")


def test_partitions_are_spread_evenly_and_a_sigterm_hands_over_at_once(server: RedisServer, store: Store) -> None:
    with workers(server, 3) as (first, *others):
        held = spread(store, 6, 5, 5)
        leaving = of(first, held)
        first.send_signal(signal.SIGTERM)
        _, log = first.communicate(timeout=PATIENCE)
        assert first.returncode == 0
        # Released by itself, not by running out: at the very end of the process it holds nothing.
        assert holders(store)[leaving] == 0
        assert b"worker stopped" in log
        spread(store, 8, 8)
        store.tell("ada", created("coffee", "a"), mentioned("a", 1))
        assert store.reader.get("ada", "a", trace=False)["mention_count"] == 2
        assert len(store.operator.status()["workers"]) == 2
        held = holders(store)
        assert {of(process, held) for process in others} == set(held)


def test_a_killed_worker_s_partitions_are_taken_over_within_seconds_and_nothing_is_lost(
    server: RedisServer, store: Store
) -> None:
    with workers(server, 2) as (first, second):
        held = spread(store, 8, 8)
        store.tell("ada", created("coffee", "a"))
        owners = [f"owner-{n}" for n in range(40)]
        first.kill()
        receipts = [r for o in owners for r in store.app.log.append([store.prepared(o, created("tea", "t"))])]
        store.writer.settle(receipts)  # raises where nobody takes over
        taken = spread(store, 16)
        assert of(second, taken) == of(second, held)
        assert all(store.reader.get(owner, "t", trace=False)["memory"] == "tea" for owner in owners)
        assert store.operator.status()["lag"] == 0
    verdict = run(["verify", "--json"], {"ENGRAMLOG_REDIS_URL": server.url}).json
    assert (verdict["ok"], verdict["events"]) == (True, 41)


def test_a_command_folds_by_itself_where_no_worker_lives_and_leaves_it_to_those_that_do(
    server: RedisServer, store: Store
) -> None:
    store.tell("ada", created("coffee", "a"))
    assert (holders(store), store.operator.status()["workers"]) == (Counter(), [])
    with workers(server, 1) as (only,):
        held = spread(store, 16)
        store.tell("ada", mentioned("a", 1))
        assert holders(store) == held
        assert of(only, held)
        wait_until(lambda: [worker["folded"] for worker in store.operator.status()["workers"]] == [1])


def test_commands_without_any_worker_take_turns_and_wait_for_no_lease(server: RedisServer, store: Store) -> None:
    with open_application(Settings(redis_url=server.url)) as application:
        second = Store(application)
        epochs = []
        for number in range(3):
            store.tell(f"ada-{number}", created("coffee", "a"))
            second.tell(f"bo-{number}", created("coffee", "a"))
            assert holders(store) == Counter()
            epochs.append(store.operator.status()["partitions"][0]["epoch"])
        assert epochs == [2, 4, 6]  # each took every lease once and gave it back


def test_workers_take_the_partitions_that_the_store_has_whatever_they_are_told(server: RedisServer) -> None:
    with open_application(Settings(redis_url=server.url, partitions=3)) as application, workers(server, 2):
        store = Store(application)
        spread(store, 2, 1)
        store.tell("ada", created("coffee", "a"))
    with open_application(Settings(redis_url=server.url, partitions=16)) as application:
        assert [p["partition"] for p in application.operator.status()["partitions"]] == [0, 1, 2]


def test_a_worker_of_a_sealed_store_has_its_key(server: RedisServer, tmp_path: Path) -> None:
    key = tmp_path / "key"
    make_key_file(key)
    with (
        open_application(Settings(redis_url=server.url, sealed_by=str(key))) as application,
        workers(server, 1, {"ENGRAMLOG_SEALED_BY": str(key)}) as (process,),
    ):
        store = Store(application)
        assert of(process, spread(store, 16))
        store.tell("ada", created("coffee", "a"))
        assert store.reader.get("ada", "a", trace=False)["content"] == "coffee"
