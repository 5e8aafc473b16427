"""A rebuild that was killed: what it left is told, gone on with or dropped, and never trusted without the log."""

from __future__ import annotations

from functools import partial

import pytest

from engramlog_server.consumers.fold.folder import CommitLane
from engramlog_server.consumers.fold.rebuild import (
    RebuildRun,
    WindowFolder,
    drop_left_builds,
    left_build,
    rebuild_partition,
    tell_left_build,
)
from engramlog_server.events.catalogue import EventDiscarded
from engramlog_server.events.envelope import Prepared, canonical, new_event_id, prepare_body
from engramlog_server.events.errors import DamagedState, LostLease
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.fold.partition import WindowLimits
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys, drop_build
from engramlog_server.projections.redis.store import SWITCH, read_checkpoint, take_lease
from tests.given.alarms import KeptAlarms
from tests.integration.consumers.fold.test_rebuild import OWNERS, fill
from tests.integration.live import Live, live_store, wait_until
from tests.servers import RedisServer

NEXT = f"{FIRST_BUILD}.1"
BRIEF_MS = 50
ONCE = ["lease taken", "before what was left is dropped", "before a switch", "after a switch"]
COMMITS = ["before a commit", "commit sent", "after a commit"]
POINTS = [
    *((point, 1) for point in ONCE),
    *(("between prefetch and commit", passes) for passes in (1, 2, 3)),
    *((point, passes) for point in COMMITS for passes in (1, 2, 5, 6, 9)),
]
"""Named points, and at which of their passes it is killed."""


class _Killed(BaseException):
    """Ends a rebuild where it stands: nothing is handed over."""


SMALL = WindowLimits(events=300, piece_events=60, group_events=120)
"""Windows of 300 events in pieces of two owners: each owner of `fill` has 30 in a window."""


@pytest.fixture(autouse=True)
def _each_piece_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.consumers.fold.folder.TOGETHER_BYTES", 1)


def _kill(store: Live, tag: str, point: str, passes: int = 1) -> None:
    left = passes

    def probe(at: str) -> None:
        nonlocal left
        if at == point:
            left -= 1
            if left == 0:
                raise _Killed

    with pytest.raises(_Killed):
        rebuild_partition(store.client, tag, holder="killed", probe=probe, lease_ms=BRIEF_MS, limits=SMALL)


@pytest.mark.parametrize(("point", "passes"), POINTS)
def test_a_rebuild_killed_anywhere_is_gone_on_with_and_ends_in_the_same_state(
    redis_server: RedisServer, point: str, passes: int
) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=20)  # more than a commit holds
        wait_until(store.folded)
        tag = store.identity.tags[0]
        _kill(store, tag, point, passes)
        switched = point == "after a switch"
        done = rebuild_partition(store.client, tag, holder="next", lease_ms=BRIEF_MS, limits=SMALL)
        assert (done.old, done.new) == ((NEXT, f"{FIRST_BUILD}.2") if switched else (FIRST_BUILD, NEXT))
        wait_until(store.folded)
        assert store.differences() == []


def test_what_a_killed_rebuild_left_is_told_and_the_next_one_does_not_fold_it_again(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=20)
        wait_until(store.folded)
        tag, alarms, wire = store.identity.tags[0], KeptAlarms(), open_wire(store.client)
        _kill(store, tag, "after a commit", 9)
        stands = read_checkpoint(wire, BuildKeys(tag, NEXT))
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
    assert (left.build, left.seq, left.running) == (NEXT, 300, False)
    assert (stands.seq, stands.reach, stands.pieces) == (300, 600, 3), "the second window is written in part"
    assert raised == {("rebuild_left", "partition 0"): f"build {NEXT} was folded up to 300"}
    assert ("rebuild resumed", 300) in told
    assert alarms.standing == {}


@pytest.mark.parametrize(("field", "twice"), [("head", False), ("reached", False), ("head", True)])
def test_what_was_left_is_not_gone_on_with_where_the_log_is_another(
    redis_server: RedisServer, field: str, twice: bool
) -> None:
    """Nor where a rebuild that began anew was killed before it wrote anything: the pieces of before are gone."""
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=20)
        wait_until(store.folded)
        tag = store.identity.tags[0]
        _kill(store, tag, "after a commit", 8)
        store.client.hset(BuildKeys(tag, NEXT).checkpoint, field, bytes(32))
        if twice:
            _kill(store, tag, "between prefetch and commit")
        told: list[str] = []
        rebuild_partition(store.client, tag, holder="next", tell=lambda fact, **_: told.append(fact))
        wait_until(store.folded)
        assert "rebuild resumed" not in told
        assert store.differences() == []


def test_what_was_left_can_be_dropped_and_what_is_being_made_cannot(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store)
        wait_until(store.folded)
        tag, wire = store.identity.tags[0], open_wire(store.client)
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
        wire = open_wire(client)
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


@pytest.mark.parametrize("passes", [1, 2, 4, 7, 9])
def test_owners_that_stand_still_and_are_freed_fold_the_same_after_a_kill(
    redis_server: RedisServer, passes: int
) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=3)
        stuck = {owner: poison(store, owner) for owner in ("owner-1", "owner-2", "owner-3")}
        fill(store, rounds=7)
        store.append(*(discarded(store, owner, stuck[owner]) for owner in ("owner-1", "owner-2")))
        fill(store, rounds=3)
        wait_until(store.folded)
        tag = store.identity.tags[0]
        live = store.client.hgetall(BuildKeys(tag, FIRST_BUILD).quarantine)
        _kill(store, tag, "after a commit", passes)
        rebuild_partition(store.client, tag, holder="next", lease_ms=BRIEF_MS, limits=SMALL)
        wait_until(store.folded)
        assert store.differences() == []
        assert store.client.hgetall(BuildKeys(tag, NEXT).quarantine) == live
        assert list(live) == [b"owner-3"]


def test_a_build_of_which_only_pieces_are_written_is_not_switched_to(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        tag, wire = store.identity.tags[0], open_wire(store.client)
        live, new = BuildKeys(tag, FIRST_BUILD), BuildKeys(tag, NEXT)
        store.client.hset(new.checkpoint, mapping={"seq": 5, "pieces": 1})
        answers = [wire.run(SWITCH, [live.log.meta, live.checkpoint, new.checkpoint], [FIRST_BUILD, NEXT, 0])]
        store.client.hdel(new.checkpoint, "pieces")
        answers.append(wire.run(SWITCH, [live.log.meta, live.checkpoint, new.checkpoint], [FIRST_BUILD, NEXT, 0]))
        wire.close()
    assert [answer[0] for answer in answers] == [b"behind", b"ok"]


@pytest.mark.parametrize("between", ["o06", "o02"])
def test_nobody_in_hand_leaves_a_cache_that_is_too_small_where_a_window_ends_more_than_once_in_a_batch(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch, between: str
) -> None:
    """Two discards of parked events, with others of a window between and behind them, all in one read."""
    monkeypatch.setattr(
        "engramlog_server.consumers.fold.rebuild.WindowFolder", partial(WindowFolder, cached_memories=100)
    )
    owners = [f"o{number:02}" for number in range(20)]
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        for turn in range(3):
            store.append(*(store.created(owner, f"{owner}-{turn}-{n}") for owner in owners for n in range(10)))
        stuck = {owner: poison(store, owner) for owner in ("o01", "o02")}
        store.append(store.mentioned("o05", "o05-0-1"), discarded(store, "o01", stuck["o01"]))
        store.append(store.mentioned("o06", "o06-0-1"), discarded(store, "o02", stuck["o02"]))
        store.append(*(store.mentioned(between, f"{between}-{turn}-7") for turn in (0, 2)))
        store.append(*(store.mentioned(owner, f"{owner}-0-1") for owner in owners))
        wait_until(store.folded)
        rebuild_partition(store.client, store.identity.tags[0], holder="rebuild")
        wait_until(store.folded)
        assert store.differences() == []


def test_owners_leave_the_cache_between_the_groups_of_a_window(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.append(*(store.created(f"o{number:03}", "m") for number in range(900)))
        tag, wire, lane = store.identity.tags[0], open_wire(store.client), CommitLane(open_wire(store.client))
        lease = take_lease(wire, BuildKeys(tag, NEXT), "me", now_ms=0, ttl_ms=60_000, must_be_live=False)
        assert lease is not None
        held: list[int] = []
        folder = WindowFolder(
            *(lease, wire, lane),
            cached_memories=100,
            limits=WindowLimits(group_events=200),
            between=lambda: held.append(folder._cached),
        )
        for start in range(0, 900, 300):
            folder.prepare(store.log.read(0, start, 300))
            folder.fold()
        assert (folder.at, folder.checkpoint.seq, held) == (900, 0, []), "read, and nothing folded yet"
        folder.close()
        assert folder.checkpoint.seq == 900
        lane.settle()
        for one in (wire, lane.wire):
            one.close()
    assert held == [200, 200, 200, 200, 100]


class _Counted:
    """Passes of a commit's answer; kills at one of them."""

    def __init__(self, kill_at: int | None) -> None:
        self.passes, self._kill_at = 0, kill_at

    def __call__(self, at: str) -> None:
        if at != "after a commit":
            return
        self.passes += 1
        if self.passes == self._kill_at:
            raise _Killed


def _told_of_all(store: Live) -> None:
    """Owners that stand still, that are freed, that stand still again, and discards of what is not parked."""
    fill(store, rounds=3)
    stuck = {owner: poison(store, owner) for owner in ("owner-1", "owner-2", "owner-3")}
    store.append(discarded(store, "owner-5", stuck["owner-1"]))
    fill(store, rounds=7)
    store.append(*(discarded(store, owner, stuck[owner]) for owner in ("owner-1", "owner-2")))
    fill(store, rounds=2)
    poison(store, "owner-1")
    store.append(discarded(store, "owner-6", stuck["owner-1"]))
    poison(store, "owner-7")
    fill(store, rounds=2)


def _stored(store: Live, build: str) -> dict[str, object]:
    """What two builds of the same log have in common: all but how the change log is cut, and leases."""
    tag, found = store.identity.tags[0], dict[str, object]()
    keys, client = BuildKeys(tag, build), store.client
    for field in ("seq", "head", "digest", "memories", "waiting", "full", "refused", "pieces"):
        found[field] = client.hget(keys.checkpoint, field)
    found["quarantine"] = client.hgetall(keys.quarantine)
    for owner in OWNERS:
        found[owner] = (
            client.hgetall(keys.records(owner)),
            client.zrange(keys.changes(owner), 0, -1, withscores=True),
            client.lrange(keys.parked(owner), 0, -1),
        )
    return found


def test_a_rebuild_killed_after_any_piece_and_gone_on_with_makes_the_same_build(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        _told_of_all(store)
        wait_until(store.folded)
        store.stop_worker("w1")
        tag, all_of_them = store.identity.tags[0], _Counted(None)
        live = _stored(store, FIRST_BUILD)
        rebuild_partition(store.client, tag, holder="whole", probe=all_of_them, lease_ms=BRIEF_MS, limits=SMALL)
        build, wire = NEXT, open_wire(store.client)
        assert _stored(store, build) == live
        for kill_at in range(1, all_of_them.passes + 1):
            with pytest.raises(_Killed):
                rebuild_partition(
                    *(store.client, tag), holder="killed", probe=_Counted(kill_at), lease_ms=BRIEF_MS, limits=SMALL
                )
            if kill_at % 5 == 0:
                assert drop_left_builds(wire, tag, int(wire.call("TIME")[0]) * 1_000 + 60_000)
            done = rebuild_partition(store.client, tag, holder="next", lease_ms=BRIEF_MS, limits=SMALL)
            drop_build(wire, BuildKeys(tag, build))
            build = done.new
            assert _stored(store, build) == live, f"killed after commit {kill_at}"
        wire.close()
        assert all_of_them.passes > 20
        assert store.differences() == []


def test_a_discard_is_not_folded_over_pieces_of_before(redis_server: RedisServer) -> None:
    """Its commit would take away what tells of them."""
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=0)
        store.append(discarded(store, "owner-3", poison(store, "owner-3")))
        wait_until(store.folded)
        tag, wire, lane = store.identity.tags[0], open_wire(store.client), CommitLane(open_wire(store.client))
        lease = take_lease(wire, BuildKeys(tag, NEXT), "me", now_ms=0, ttl_ms=60_000, must_be_live=False)
        assert lease is not None
        folder = WindowFolder(lease, wire, lane)
        read = store.log.read(0, 0, 100)
        folder.prepare(read[:-1])
        folder.fold()
        folder.close()
        lane.settle()
        beyond = {"pieces": 1, "reach": read[-1].seq + 5, "reached": bytes(32)}
        store.client.hset(BuildKeys(tag, NEXT).checkpoint, mapping=beyond)
        folder = WindowFolder(lease, wire, lane)
        folder.prepare(read[-1:])
        with pytest.raises(DamagedState, match="--drop-left"):
            folder.fold()
        for one in (wire, lane.wire):
            one.close()


def poison(store: Live, owner: str) -> str:
    """Append an event that this release cannot read; its position."""
    event_id = new_event_id()
    document = {"event_id": event_id, "type": "MemoryCreated", "schema_version": 9, "owner": owner, "data": {}}
    position = store.append(prepare_body(event_id, "MemoryCreated", 9, owner, canonical(document)))[0].position
    assert position is not None
    return position


def discarded(store: Live, owner: str, position: str) -> Prepared:
    """An operator drops what is parked at a position."""
    return store.event(EventDiscarded(position=position, reason="it cannot be read"), owner, "operator")
