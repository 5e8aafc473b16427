"""A log that is not whole: nothing is folded over it, it is told, the other partitions go on, and once mended it goes on too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.consumers.fold.folder import CommitLane, PartitionFolder
from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.errors import LogGap
from engramlog_server.events.partitions import LogKeys, partition_of
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.store import read_checkpoint, take_lease
from engramlog_server.projections.redis.view import RedisViews
from tests.acceptance.helpers.store import day, embedded_store
from tests.given.alarms import KeptAlarms
from tests.given.events import created, mentioned
from tests.integration.live import Live, live_store, wait_until
from tests.places import ROOT
from tests.servers import RedisServer

BROKEN, SOUND = "alice", "carol"
"""Two owners of different partitions of two."""
assert partition_of(BROKEN, 2) != partition_of(SOUND, 2)
RUNBOOK = ROOT / "docs" / "operating.md"
LAY_ANEW = (
    "local all = redis.call('XRANGE', KEYS[1], '-', ARGV[1]..'-0') redis.call('DEL', KEYS[1])"
    " for _, one in ipairs(all) do redis.call('XADD', KEYS[1], one[1], unpack(one[2])) end return #all"
)
"""What the runbook says to an operator of Redis 8."""
Entries = list[tuple[bytes, dict[bytes, bytes]]]


def _keys(store: Live) -> LogKeys:
    return LogKeys(store.identity.tags[partition_of(BROKEN, len(store.identity.tags))])


def _entries(store: Live) -> Entries:
    return list(store.client.xrange(_keys(store).stream))  # type: ignore[arg-type]


def _lay(store: Live, entries: Entries) -> None:
    """Put these entries in the place of the log, as somebody does who mends or forges it."""
    stream = _keys(store).stream
    with store.client.pipeline() as writes:
        writes.delete(stream)
        for entry_id, fields in entries:
            writes.xadd(stream, fields, id=entry_id)  # type: ignore[arg-type]
        writes.execute()


def _checkpoint(store: Live) -> int:
    wire = open_wire(store.client)
    seq = read_checkpoint(wire, BuildKeys(_keys(store).tag, FIRST_BUILD)).seq
    wire.close()
    return seq


def _without(seq: int) -> Callable[[Entries], Entries]:
    return lambda entries: [one for one in entries if one[0] != b"%d-0" % seq]


def _renamed(seq: int, name: bytes) -> Callable[[Entries], Entries]:
    return lambda entries: [(name if one[0] == b"%d-0" % seq else one[0], one[1]) for one in entries]


def _beside(name: bytes) -> Callable[[Entries], Entries]:
    return lambda entries: [*entries, (name, {b"x": b"y"})]


FOLDED, APPENDED = 4, 12
DAMAGES: dict[str, Callable[[Entries], Entries]] = {
    "the next entry is missing": _without(FOLDED + 1),
    "an entry within the next batch is missing": _without(FOLDED + 4),
    "entries at the end are cut off": lambda entries: entries[:-2],
    "an entry behind the checkpoint is missing": _without(2),
    "the first entry is missing": _without(1),
    "an entry has a sub-sequence": _renamed(FOLDED + 2, b"%d-1" % (FOLDED + 2)),
    "an entry stands beyond the head": _beside(b"1000-0"),
    "an entry stands between two others": _beside(b"%d-1" % APPENDED),
    "there is no entry any more": lambda entries: [],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_log_that_is_not_whole_stops_its_partition_and_no_other_until_it_is_mended(
    redis_server: RedisServer, damage: str
) -> None:
    with live_store(redis_server.url, partitions=2) as store:
        store.start_worker("before")
        store.append(*(store.created(BROKEN, f"m{n}") for n in range(FOLDED)))
        wait_until(store.folded)
        store.stop_worker("before")
        store.append(*(store.created(BROKEN, f"m{n}") for n in range(FOLDED, APPENDED)))
        whole, alarms = _entries(store), KeptAlarms()
        _lay(store, DAMAGES[damage](whole))
        store.start_worker("after", alarms=alarms, standing_seconds=0.05)
        subject = f"partition {partition_of(BROKEN, 2)}"
        text = wait_until(lambda: alarms.standing.get(("partition_gap", subject)))
        store.append(store.created(SOUND, "other"))
        wait_until(lambda: store.folded_of(partition_of(SOUND, 2)))
        told = set(alarms.standing)
        stood_at = _checkpoint(store)
        _lay(store, whole)
        wait_until(store.folded)
        wait_until(lambda: not alarms.standing)
        assert store.differences() == []
    assert told == {("partition_gap", subject)}
    assert stood_at == FOLDED
    assert "nothing is folded over it" in text


@pytest.mark.parametrize("damage", [one for one in DAMAGES if one != "an entry has a sub-sequence"])
def test_nothing_is_appended_to_a_log_that_is_not_whole_and_the_same_request_is_taken_once_it_is(
    redis_server: RedisServer, damage: str
) -> None:
    """Else the hole could never be filled: behind a cut tail new events would take the seqs that follow on the lost ones."""
    with live_store(redis_server.url, partitions=2) as store:
        held = [store.created(BROKEN, f"m{n}") for n in range(APPENDED)]
        store.append(*held)
        whole, number = _entries(store), partition_of(BROKEN, 2)
        _lay(store, DAMAGES[damage](whole))
        events = [store.created(BROKEN, "more"), store.created(SOUND, "other")]
        broken, sound = store.log.append(events)
        known = store.log.append(held[:1])[0]
        head = store.log.head(number)
        _lay(store, whole)
        again = [one.status for one in store.log.append([*events, held[0]])]
        store.start_worker("w1")
        wait_until(store.folded)
        assert store.differences() == []
    assert (broken.status, sound.status, head) == ("failed", "appended", APPENDED)
    assert f"partition {number}: its log has " in (broken.error or "")
    assert "Once it is whole, the same request can be sent again" in (broken.error or "")
    assert known.status == "failed", "a receipt for what may be among the missing would not be true"
    assert again == ["appended", "already_appended", "already_appended"]


def test_entries_that_vanish_behind_a_running_worker_alarm_without_anybody_appending(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        alarms = KeptAlarms()
        store.start_worker("w1", alarms=alarms, standing_seconds=0.05)
        store.append(*(store.created(BROKEN, f"m{n}") for n in range(3)))
        wait_until(store.folded)
        whole = _entries(store)
        store.client.xdel(_keys(store).stream, "2-0")
        text = wait_until(lambda: alarms.standing.get(("partition_gap", "partition 0")))
        _lay(store, whole)
        wait_until(lambda: not alarms.standing)
    assert "ends at 3 and has 2 entries: 1 are gone" in text


def test_a_batch_with_a_hole_is_refused_whole_by_the_folder_itself(redis_server: RedisServer) -> None:
    """What is looked at now and then may have been whole a moment ago; what is folded is looked at always."""
    with live_store(redis_server.url, partitions=1) as store:
        store.append(*(store.created(BROKEN, f"m{n}") for n in range(6)))
        stored, wire = store.log.read(0, 0), open_wire(store.client)
        keys = BuildKeys(store.identity.tags[0], FIRST_BUILD)
        lease = take_lease(wire, keys, "me", now_ms=0, ttl_ms=60_000)
        assert lease is not None
        lane = CommitLane(open_wire(store.client))
        folder = PartitionFolder(lease, wire, lane)
        with pytest.raises(LogGap, match="no entry 3, and goes on at 4"):
            folder.feed([*stored[:2], *stored[3:]])
        with pytest.raises(LogGap, match="no entry 1, and goes on at 2"):
            folder.feed(stored[1:])
        folder.feed(stored)
        lane.settle()
        assert folder.checkpoint.seq == 6
        for one in (wire, lane.wire):
            one.close()


def test_verify_rebuild_and_as_of_reads_say_that_entries_are_missing(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        store.append(*(store.created(BROKEN, f"m{n}") for n in range(6)))
        wait_until(store.folded)
        store.client.xdel(_keys(store).stream, "3-0")
        found = verify_partition(store.client, 0, store.identity.tags[0]).differences
        with pytest.raises(LogGap, match="6 and has 5 entries"):
            rebuild_partition(store.client, store.identity.tags[0], holder="rebuild")
        views = RedisViews(store.client, store.identity.tags)
        with pytest.raises(LogGap, match="no entry 3 any more"):
            views.stored(BROKEN, [1, 2, 3, 4])
        views.close()
        assert not store.client.exists(BuildKeys(store.identity.tags[0], f"{FIRST_BUILD}.1").checkpoint)
    told: set[Any] = {(one["what"], one.get("position")) for one in found}
    assert ("the log has a gap", "0:3") in told


def test_what_was_folded_before_a_lost_entry_is_answered_with_a_warning(tmp_path: Path) -> None:
    with embedded_store(tmp_path / "data", sealed_by="none") as store:
        store.tell(
            BROKEN, *(created(f"I like tea number {n}", f"m{n}", day=n) for n in range(4)), mentioned("m3", day=5)
        )
        partition = partition_of(BROKEN, store.app.log.partitions)
        names = store.app.views.changelogs.keys(BROKEN, FIRST_BUILD)
        assert "log_gap" not in store.reader.list(BROKEN)
        store.app.views._wires._client.xdel(LogKeys(names.tag).stream, "2-0")
        gap = f"the log of partition {partition} has 4 entries, though 5 events were appended"
        answers = [
            store.reader.list(BROKEN, mode="debug"),
            store.reader.get(BROKEN, "m1"),
            store.reader.why(BROKEN, "m1"),
            store.reader.history(BROKEN),
        ]
        assert [one["log_gap"] for one in answers] == [gap] * 4
        assert answers[0]["total"] == 4
        told = {one["memory"]: one["actor"] for one in answers[3]["changes"]}
        assert told == {"m0": "user", "m1": None, "m2": "user", "m3": "user"}
        with pytest.raises(LogGap, match="no entry 2 any more"):
            store.reader.list(BROKEN, as_of=day(9))


def test_a_foreign_entry_beyond_the_head_is_taken_away_as_the_runbook_says(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        alarms = KeptAlarms()
        store.start_worker("w1", alarms=alarms, standing_seconds=0.05)
        store.append(store.created(BROKEN, "m0"))
        wait_until(store.folded)
        stream = _keys(store).stream
        store.client.xadd(stream, {"x": "y"}, id="1000-0")
        wait_until(lambda: alarms.standing)
        assert store.log.append([store.created(BROKEN, "m1")])[0].status == "failed"
        assert LAY_ANEW in RUNBOOK.read_text("utf-8")
        assert store.client.eval(LAY_ANEW, 1, stream, 1) == 1
        store.append(store.created(BROKEN, "m2"))
        wait_until(store.folded)
        wait_until(lambda: not alarms.standing)
        assert store.differences() == []


def _holder(store: Live) -> str | None:
    held: bytes | None = store.client.hget(BuildKeys(_keys(store).tag, FIRST_BUILD).checkpoint, "holder")  # type: ignore[assignment]
    return None if held is None else held.decode()


@pytest.mark.parametrize("point", ["before a commit", "commit sent", "between prefetch and commit"])
def test_the_lease_is_given_back_whatever_the_worker_did_when_an_entry_was_deleted(
    redis_server: RedisServer, point: str
) -> None:
    """A commit of the deleted entry is refused then, and the worker begins anew without what it held."""
    with live_store(redis_server.url, partitions=2) as store:
        events = [store.created(BROKEN, f"m{number}") for number in range(APPENDED)]
        store.append(*events[:FOLDED])
        taken = list[Entries]()

        def probe(at: str) -> None:
            if at == point and not taken and store.log.head(partition_of(BROKEN, 2)) == APPENDED:
                taken.append(_entries(store))
                store.client.xdel(_keys(store).stream, f"{APPENDED}-0")

        alarms = KeptAlarms()
        store.start_worker("folder", probe=probe, alarms=alarms, standing_seconds=0.2)
        wait_until(store.folded)
        store.append(*events[FOLDED:])
        wait_until(lambda: taken and any(name == "partition_gap" for name, _ in alarms.standing))
        wait_until(lambda: _holder(store) is None, seconds=10.0)
        assert {name for name, _ in alarms.standing} == {"partition_gap"}
        _lay(store, taken[0])
        wait_until(lambda: store.folded() and not alarms.standing)
