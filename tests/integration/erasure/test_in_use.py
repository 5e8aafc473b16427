"""An owner is erased in use: producers append, workers fold, readers ask, a rebuild runs; nothing is left, nobody loses any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event as Flag
from threading import Thread

import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.errors import FoldError, LostLease, OwnerErased, StoreError
from engramlog_server.ops.erasure.fence_list import ALARM
from tests.integration.erasure.erased import ADA, BRIEF_MS, NEIGHBOURS, Erasing, Killed
from tests.integration.live import Live, wait_until
from tests.patience import PATIENCE
from tests.servers import RedisServer


@pytest.fixture
def store(redis_server: RedisServer, tmp_path: Path) -> Erasing:
    return Erasing(redis_server, tmp_path)


class Producer:
    """Appends one memory after the other of each owner, and keeps what was acknowledged."""

    def __init__(self, live: Live, owners: tuple[str, ...]) -> None:
        self._live, self._owners = live, owners
        self.written: dict[str, list[str]] = {one: [] for one in owners}
        self.refused = dict.fromkeys(owners, 0)

    def run(self, stop: Flag) -> None:
        """Until it is told to stop."""
        number = 0
        while not stop.is_set():
            number += 1
            for owner in self._owners:
                told = self._live.created(owner, f"n{number}", f"said {number}")
                try:
                    (receipt,) = self._live.log.append([told])
                except OwnerErased:
                    self.refused[owner] += 1
                    continue
                if receipt.written:
                    self.written[owner].append(f"n{number}")
                else:
                    assert "was erased" in str(receipt.error), receipt
                    self.refused[owner] += 1


@contextmanager
def meanwhile(*works: Callable[[Flag], None]) -> Iterator[list[BaseException]]:
    """Each in a thread, until it is over; what failed."""
    stop, failed = Flag(), list[BaseException]()

    def guarded(work: Callable[[Flag], None]) -> None:
        try:
            work(stop)
        except BaseException as error:  # told by the test
            failed.append(error)

    threads = [Thread(target=guarded, args=(one,)) for one in works]
    for one in threads:
        one.start()
    try:
        yield failed
    finally:
        stop.set()
        for one in threads:
            one.join(PATIENCE)
            assert not one.is_alive()


def test_while_it_is_used_nobody_else_loses_anything_and_nothing_of_the_owner_is_left(store: Erasing) -> None:
    views: dict[str, set[int]] = {ADA: set(), "bob": set()}
    with store.live() as live, store.live() as other, store.opened() as reader:
        live.start_worker("w1")
        other.start_worker("w2")
        producers = Producer(live, (ADA, *NEIGHBOURS[:2])), Producer(other, (ADA, *NEIGHBOURS[2:]))

        def read(stop: Flag) -> None:
            gone = False
            while not stop.is_set():
                for owner, seen in views.items():
                    try:
                        with reader.views.view(owner) as (view, _):
                            assert not (gone and owner == ADA), "she was gone, and is back"
                            seen.add(len(view))
                    except OwnerErased:
                        assert owner == ADA
                        gone = True

        with meanwhile(producers[0].run, producers[1].run, read) as failed:
            wait_until(lambda: all(len(one.written[ADA]) > 5 for one in producers))
            fenced = list[int]()

            def at_the_fence(point: str) -> None:
                if point == "after the fence":
                    fenced.extend(len(one.written[ADA]) for one in producers)

            done = store.erase(probe=at_the_fence)
            wait_until(lambda: all(one.refused[ADA] > 3 for one in producers))
            counts = [len(one.written[ADA]) for one in producers]
            wait_until(lambda: len(producers[0].written["lin-yue"]) > counts[0] + 5 or None)
        assert failed == []
        assert [len(one.written[ADA]) for one in producers] == counts
        assert all(counts[at] - fenced[at] <= 1 for at in range(2))  # one whose answer was on its way
        wait_until(live.folded)
        for producer in producers:
            for owner, written in producer.written.items():
                if owner != ADA:
                    assert set(written) <= store.records(owner)[owner].keys(), owner
        assert done.events >= 2 * store.memories + sum(fenced)
    # read while others append, the digest may be of another moment; at rest it is clean
    assert store.differences() == []
    assert store.left_of() == []
    assert store.is_silent()
    assert views["bob"]
    assert min(views["bob"]) >= store.memories
    assert not store.alarm_stands
    store.agree()


def test_a_worker_that_had_the_owner_in_its_working_set_does_not_write_it_back(store: Erasing) -> None:
    with store.live() as live:
        live.start_worker("w1")
        for number in range(10):
            live.append(live.created(ADA, f"k{number}"), live.created("团队", f"k{number}"))
        wait_until(live.folded)
        store.erase()
        for number in range(10):
            live.append(live.created("团队", f"l{number}"))
        wait_until(live.folded)
        assert len(store.records("团队")["团队"]) == store.memories + 20
    assert store.left_of() == []
    assert store.differences() == []


@pytest.mark.parametrize("point", ["between prefetch and commit", "after a commit", "before a switch"])
def test_what_a_killed_rebuild_of_before_had_folded_of_the_owner_is_not_gone_on_with(
    store: Erasing, point: str
) -> None:
    client = store.client()

    def killed(at: str) -> None:
        if at == point:
            raise Killed

    with pytest.raises(Killed):
        rebuild_partition(client, store.tag(), holder="killed", probe=killed, lease_ms=BRIEF_MS)
    client.close()
    others = store.neighbourhood()
    assert store.erase().verified
    assert store.left_of() == []
    assert store.differences() == []
    assert store.neighbourhood() == others


def test_while_another_rebuild_holds_the_partition_it_is_told_and_the_next_run_ends_it(store: Erasing) -> None:
    """The rebuild had folded her before the fence; what it switches to is folded anew without her."""
    others, told = store.neighbourhood(), list[Exception]()
    client = store.client()

    def goes_on(_told: str) -> None:
        with store.server.client() as redis:  # it lives, and has its lease last on
            redis.hincrby(f"{{{store.tag()}}}:{store.next_build()}:ck", "until", 1_000)

    def erased_meanwhile(at: str) -> None:
        if at == "before a switch" and not told:
            with pytest.raises(LostLease, match="another rebuild of partition") as caught:
                store.erase(lease_ms=10_000, on_wait=goes_on)
            told.append(caught.value)

    rebuild_partition(client, store.tag(), holder="another", probe=erased_meanwhile)
    client.close()
    assert len(told) == 1
    assert store.is_fenced()
    assert ALARM in store.alarms()
    assert store.is_silent()
    assert store.erase().verified
    assert store.left_of() == []
    assert store.differences() == []
    assert store.neighbourhood() == others


@pytest.mark.parametrize("point", ["between prefetch and commit", "before a commit", "commit sent", "before a switch"])
def test_a_rebuild_that_slept_through_an_erasure_writes_nothing_back(store: Erasing, point: str) -> None:
    """It had her folded, its lease ended, and it wakes up once all is done."""
    others, client, slept = store.neighbourhood(), store.client(), list[bool]()

    def sleeps(at: str) -> None:
        if at == point and not slept:
            slept.append(store.erase().verified)

    with suppress(StoreError, FoldError):
        rebuild_partition(client, store.tag(), holder="sleeper", probe=sleeps, lease_ms=BRIEF_MS)
    client.close()
    assert slept == [True]
    assert store.left_of() == []
    assert store.differences() == []
    assert store.is_silent()
    assert store.neighbourhood() == others


def test_a_rebuild_of_afterwards_brings_nothing_back(store: Erasing) -> None:
    store.erase()
    others, client = store.neighbourhood(), store.client()
    for tag in store.identity.tags:
        rebuild_partition(client, tag, holder="later")
    client.close()
    assert store.left_of() == []
    assert store.differences() == []
    assert store.is_silent()
    assert store.neighbourhood() == others
