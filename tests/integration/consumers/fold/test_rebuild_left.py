"""A rebuild that was killed: what it left is told, gone on with or dropped, and never trusted without the log."""

from __future__ import annotations

import pytest

from consumers.fold.rebuild import rebuild_partition
from consumers.fold.rebuild_run import RebuildRun, drop_left_builds, left_build, tell_left_build
from events.errors import LostLease
from events.redis.wire import Wire
from projections.fold.builds import FIRST_BUILD, BuildKeys
from tests.given.alarms import KeptAlarms
from tests.integration.consumers.fold.test_rebuild import fill
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer

NEXT = f"{FIRST_BUILD}.1"
BRIEF_MS = 50
POINTS = [
    "lease taken",
    "before what was left is dropped",
    "between prefetch and commit",
    "before a commit",
    "commit sent",
    "after a commit",
    "before a switch",
    "after a switch",
]


class _Killed(BaseException):
    """Ends a rebuild where it stands: nothing is handed over."""


def _kill(store: Live, tag: str, point: str, passes: int = 1) -> None:
    left = passes

    def probe(at: str) -> None:
        nonlocal left
        if at == point:
            left -= 1
            if left == 0:
                raise _Killed

    with pytest.raises(_Killed):
        rebuild_partition(store.client, tag, holder="killed", probe=probe, lease_ms=BRIEF_MS)


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("point", POINTS)
def test_a_rebuild_killed_anywhere_is_gone_on_with_and_ends_in_the_same_state(
    redis_server: RedisServer, point: str, passes: int
) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=20)  # more than a commit holds
        wait_until(store.folded)
        tag = store.identity.tags[0]
        once = {"lease taken", "before what was left is dropped", "before a switch", "after a switch"}
        _kill(store, tag, point, 1 if point in once else passes)
        switched = point == "after a switch"
        done = rebuild_partition(store.client, tag, holder="next", lease_ms=BRIEF_MS)
        assert (done.old, done.new) == ((NEXT, f"{FIRST_BUILD}.2") if switched else (FIRST_BUILD, NEXT))
        wait_until(store.folded)
        assert store.differences() == []


def test_what_a_killed_rebuild_left_is_told_and_the_next_one_does_not_fold_it_again(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=20)
        wait_until(store.folded)
        tag, alarms, wire = store.identity.tags[0], KeptAlarms(), Wire(store.client)
        _kill(store, tag, "after a commit")
        now_ms = int(wire.call("TIME")[0]) * 1_000 + 60_000
        live = BuildKeys(tag, FIRST_BUILD)
        left = left_build(wire, tag, FIRST_BUILD, now_ms)
        tell_left_build(wire, live, 0, now_ms, alarms)
        raised = dict(alarms.standing)
        told: list[tuple[str, object]] = []
        rebuild_partition(
            store.client, tag, holder="next", tell=lambda fact, **rest: told.append((fact, rest.get("seq")))
        )
        tell_left_build(wire, BuildKeys(tag, NEXT), 0, now_ms, alarms)
        wire.close()
    assert left is not None
    assert (left.build, left.seq, left.running) == (NEXT, 500, False)
    assert raised == {("rebuild_left", "partition 0"): f"build {NEXT} was folded up to 500"}
    assert ("rebuild goes on", 500) in told
    assert alarms.standing == {}


def test_what_was_left_is_not_gone_on_with_where_the_log_is_another(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=20)
        wait_until(store.folded)
        tag = store.identity.tags[0]
        _kill(store, tag, "after a commit")
        store.client.hset(BuildKeys(tag, NEXT).checkpoint, "head", bytes(32))
        told: list[str] = []
        rebuild_partition(store.client, tag, holder="next", tell=lambda fact, **_: told.append(fact))
        wait_until(store.folded)
        assert "rebuild goes on" not in told
        assert store.differences() == []


def test_what_was_left_can_be_dropped_and_what_is_being_made_cannot(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store)
        wait_until(store.folded)
        tag, wire = store.identity.tags[0], Wire(store.client)
        _kill(store, tag, "after a commit")
        assert "a build that is neither live nor being made" in {one["what"] for one in wait_until(store.differences)}
        now_ms = int(wire.call("TIME")[0]) * 1_000
        assert drop_left_builds(wire, tag, now_ms - 60_000) == []
        assert drop_left_builds(wire, tag, now_ms + 60_000) == [NEXT]
        wire.close()
        assert store.differences() == []
        assert list(store.client.scan_iter(f"{{{tag}}}:{NEXT}:*")) == []


def test_a_rebuild_that_goes_on_elsewhere_is_left_alone(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store)
        wait_until(store.folded)
        tag = store.identity.tags[0]

        def renewed() -> None:
            store.client.hincrby(BuildKeys(tag, NEXT).checkpoint, "until", 1)

        def probe(at: str) -> None:
            if at == "before a switch":
                with pytest.raises(LostLease, match="another rebuild"):
                    rebuild_partition(store.client, tag, holder="second", on_wait=lambda _: renewed())

        rebuild_partition(store.client, tag, holder="first", probe=probe)
        wait_until(store.folded)
        assert store.differences() == []


def test_a_run_of_partitions_goes_on_with_the_rest_and_only_for_the_same_partitions(redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        wire = Wire(client)
        first = RebuildRun.begin(wire, [0, 1, 2], anew=False)
        first.finished(wire, 0)
        again = RebuildRun.begin(wire, [0, 1, 2], anew=False)
        assert (again.done, again.rest) == ([0], [1, 2])
        assert RebuildRun.begin(wire, [1], anew=False).rest == [1]
        assert RebuildRun.begin(wire, [0, 1, 2], anew=False).rest == [0, 1, 2]
        again.finished(wire, 1)
        assert RebuildRun.begin(wire, [0, 1, 2], anew=True).rest == [0, 1, 2]
        again.end(wire)
        assert RebuildRun.begin(wire, [0, 1, 2], anew=False).done == []
        wire.close()
