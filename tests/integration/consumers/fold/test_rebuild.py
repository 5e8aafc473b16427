"""Rebuild and verify: another build beside the live one, switched at an equal checkpoint, compared with a fold in memory."""

from __future__ import annotations

from threading import Event as Flag
from threading import Thread

import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition, refuse_without_room
from engramlog_server.consumers.verify.partition import verify_partition
from engramlog_server.events.errors import DamagedState, LostLease, StoreFull
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.projections.redis.builds import FIRST_BUILD, KEPT_MS, BuildKeys, drop_retired_builds
from engramlog_server.projections.redis.store import read_checkpoint, take_lease
from engramlog_server.projections.redis.view import RedisViews
from tests.integration.live import Live, live_store, wait_until
from tests.patience import PATIENCE
from tests.servers import RedisServer

OWNERS = [f"owner-{n}" for n in range(10)]


def fill(store: Live, rounds: int = 3) -> None:
    store.append(*(store.created(owner, f"m{n}") for owner in OWNERS for n in range(5)))
    for _ in range(rounds):
        store.append(*(store.mentioned(owner, f"m{n}") for owner in OWNERS for n in range(5)))


def differences(store: Live) -> list[object]:
    return [
        d
        for number, tag in enumerate(store.identity.tags)
        for d in verify_partition(store.client, number, tag).differences
    ]


def test_a_rebuild_while_producers_append_ends_in_the_same_state_under_a_new_name(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=2) as store:
        store.start_worker("w1")
        fill(store)
        stop = Flag()

        def produce() -> None:
            while not stop.is_set():
                store.append(*(store.mentioned(owner, "m1") for owner in OWNERS))

        producer = Thread(target=produce)
        producer.start()
        try:
            done = [rebuild_partition(store.client, tag, holder="rebuild") for tag in store.identity.tags]
        finally:
            stop.set()
            producer.join()
        assert [(one.old, one.new) for one in done] == [(FIRST_BUILD, f"{FIRST_BUILD}.1")] * 2
        wait_until(store.folded)
        assert differences(store) == []
        assert all(fact["reason"] for fact in store.told("fold stopped"))


def test_readers_follow_a_switch_without_a_gap(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=0)
        wait_until(store.folded)
        views = RedisViews(store.client, store.identity.tags)
        with views.view("owner-1") as (view, before):
            assert len(view) == 5
        rebuild_partition(store.client, store.identity.tags[0], holder="rebuild")
        receipt = store.append(store.created("owner-1", "after"))[0]
        seq = int((receipt.position or "0:0").split(":")[1])
        with views.view("owner-1", after=seq, wait_seconds=PATIENCE) as (view, after):
            assert len(view) == 6
            assert after.checkpoint > before.checkpoint
        views.close()


def test_the_old_build_goes_ten_minutes_after_the_switch_and_leaves_no_key(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store)
        wait_until(store.folded)
        tag = store.identity.tags[0]
        rebuild_partition(store.client, tag, holder="rebuild")
        wire = open_wire(store.client)
        retired = int(wire.call("HGET", f"{{{tag}}}:meta", f"old:{FIRST_BUILD}"))
        assert drop_retired_builds(wire, tag, retired + KEPT_MS - 1) == []
        assert drop_retired_builds(wire, tag, retired + KEPT_MS) == [FIRST_BUILD]
        left = {key.decode() for key in store.client.scan_iter(f"{{{tag}}}:{FIRST_BUILD}:*")}
        assert left == set()
        wire.close()
        assert differences(store) == []


def test_one_rebuild_of_a_partition_at_a_time(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=0)
        wait_until(store.folded)
        tag = store.identity.tags[0]
        wire = open_wire(store.client)
        seconds, _ = wire.call("TIME")
        keys = BuildKeys(tag, f"{FIRST_BUILD}.1")
        assert take_lease(wire, keys, "other", now_ms=int(seconds) * 1000, ttl_ms=20_000, must_be_live=False)
        wire.close()
        with pytest.raises(LostLease, match="another rebuild"):
            rebuild_partition(store.client, tag, holder="rebuild")


def test_a_rebuild_that_memory_does_not_suffice_for_is_refused(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store)
        wait_until(store.folded)
        wire = open_wire(store.client)
        refuse_without_room(wire, store.identity.tags)
        used = int(store.client.info("memory")["used_memory"])
        store.client.config_set("maxmemory", str(int(used * 1.2)))
        with pytest.raises(StoreFull, match="raise maxmemory"):
            refuse_without_room(wire, store.identity.tags)
        wire.close()


def test_verify_names_the_memory_that_differs(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store)
        wait_until(store.folded)
        keys = BuildKeys(store.identity.tags[0], FIRST_BUILD)
        other = store.client.hget(keys.records("owner-3"), "m2")
        store.client.hset(keys.records("owner-3"), "m1", other)
        found = verify_partition(store.client, 0, keys.tag).differences
        assert [(d["owner"], d["memory"]) for d in found if "memory" in d] == [("owner-3", "m1")]
        assert "id" in found[0]["fields"]


def test_verify_finds_a_lost_change_log_a_lost_owner_and_a_changed_event(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store)
        wait_until(store.folded)
        store.stop_worker("w1")
        keys = BuildKeys(store.identity.tags[0], FIRST_BUILD)
        store.client.delete(keys.changelog("owner-4"), keys.tail("owner-4"))
        store.client.hdel(keys.owners, "owner-5")
        store.client.hset(keys.checkpoint, "digest", "0")
        found = verify_partition(store.client, 0, keys.tag).differences
        told = {(d["what"], d.get("owner")) for d in found}
        assert ("the digest of all records", None) in told
        assert ("a change log that does not fit its chain", "owner-4") in told
        assert ("positions neither applied nor parked", "owner-4") in told
        assert ("an owner's last applied position", "owner-5") in told
        first = store.client.xrange(keys.log.stream, count=1)[0]
        store.client.xdel(keys.log.stream, first[0])
        found = verify_partition(store.client, 0, keys.tag).differences
        assert ("the log has a gap", "0:1") in {(d["what"], d.get("position")) for d in found}


def test_a_partition_without_events_verifies(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=4) as store:
        store.start_worker("w1")
        store.append(store.created("alice", "m1"))
        wait_until(store.folded)
        assert differences(store) == []
        mine = partition_of("alice", 4)
        assert verify_partition(store.client, mine, store.identity.tags[mine]).memories == 1


def test_a_damaged_record_stops_its_partition_with_a_cure_and_a_rebuild_mends_it(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=2) as store:
        store.start_worker("w1")
        fill(store)
        wait_until(store.folded)
        store.stop_worker("w1")
        damaged = partition_of("owner-3", 2)
        keys = BuildKeys(store.identity.tags[damaged], FIRST_BUILD)
        store.client.hset(keys.records("owner-3"), "m1", b"\xff not a record")
        views = RedisViews(store.client, store.identity.tags)
        with pytest.raises(DamagedState, match="engramlog rebuild"), views.view("owner-3"):
            pass
        views.close()
        store.append(store.mentioned("owner-3", "m1"), *(store.mentioned(owner, "m0") for owner in OWNERS))
        store.start_worker("w2")
        stopped = wait_until(lambda: [fact for fact in store.told("fold stopped") if "m1" in fact["reason"]])
        assert stopped[0]["alarm"]
        wait_until(lambda: store.log.head(1 - damaged) == checkpoint(store, 1 - damaged))
        rebuild_partition(store.client, keys.tag, holder="rebuild", give_up_after=10.0)
        wait_until(store.folded)
        assert differences(store) == []


def checkpoint(store: Live, partition: int) -> int:
    wire = open_wire(store.client)
    seq = read_checkpoint(wire, BuildKeys(store.identity.tags[partition], FIRST_BUILD)).seq
    wire.close()
    return seq


def test_a_live_build_that_no_worker_of_this_version_may_fold_is_left_by_a_rebuild(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        tag = store.identity.tags[0]
        store.client.hset(f"{{{tag}}}:meta", "live", "v0")
        fill(store, rounds=0)
        store.start_worker("w1")
        assert wait_until(lambda: store.told("build not supported"))[0]["cure"] == "engramlog rebuild"
        assert rebuild_partition(store.client, tag, holder="rebuild").new == FIRST_BUILD
        wait_until(store.folded)
        assert differences(store) == []


def test_an_owner_larger_than_a_page_is_verified_between_small_ones(redis_server: RedisServer) -> None:
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store, rounds=1)
        store.append(*(store.created("owner-4", f"large-{n}") for n in range(600)))
        wait_until(store.folded)
        assert differences(store) == []
        keys = BuildKeys(store.identity.tags[0], FIRST_BUILD)
        for owner in ("owner-3", "owner-4", "owner-5"):
            store.client.hdel(keys.records(owner), "m1")
        found = verify_partition(store.client, 0, keys.tag).differences
        assert [(one["owner"], one["memory"]) for one in found] == [
            ("owner-3", "m1"),
            ("owner-4", "m1"),
            ("owner-5", "m1"),
        ]


def test_fields_of_an_earlier_index_are_named_with_their_cure_and_a_rebuild_drops_them(
    redis_server: RedisServer,
) -> None:
    """Indexes had `times` and `lines` before they had `events`."""
    with live_store(redis_server.url, partitions=1) as store:
        store.start_worker("w1")
        fill(store)
        wait_until(store.folded)
        earlier = {"times": b"20 100", "times:0": b"x", "lines": b"20 100", "lines:0": b"x"}
        store.client.hset(BuildKeys(store.identity.tags[0], FIRST_BUILD).index("owner-1"), mapping=earlier)
        (found,) = verify_partition(store.client, 0, store.identity.tags[0]).differences
        assert (found["fields"], found["cure"]) == (sorted(earlier), "engramlog rebuild")
        rebuild_partition(store.client, store.identity.tags[0], holder="rebuild")
        assert differences(store) == []
