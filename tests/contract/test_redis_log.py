"""What holds for the log on Redis only: its keys, its receipts, and Redis being full, gone or stalled."""

from __future__ import annotations

import os
import re
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from secrets import token_bytes
from typing import Any

import pytest
import redis
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.crc import key_slot

from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.events.envelope import Prepared, Stored
from engramlog_server.events.errors import StoreFull, StoreUnavailable, UnderReplicated
from engramlog_server.events.log import AppendReceipt
from engramlog_server.events.memory_log import InMemoryEventLog
from engramlog_server.events.partitions import LogKeys, crc16, partition_of, spread_tags
from engramlog_server.events.redis.durability import KEPT_BY, Proof
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.redis.server import connect
from engramlog_server.events.redis.wire import WirePool
from tests.examples import examples
from tests.given.samples import NOW, event, mention, owner_in, side_events
from tests.patience import PATIENCE
from tests.rows import each_row
from tests.servers import RedisServer, Servers, fake_client, wheel_server

PARTITIONS = 4
TAGS = spread_tags(PARTITIONS)
HERE, THERE = owner_in(1, PARTITIONS), owner_in(2, PARTITIONS)
BEFORE = mention("before", HERE)
EIGHT_PRIMARIES = 8
SLOTS = 16_384


def entries_of(client: redis.Redis, partition: int = 1) -> list[tuple[bytes, bytes]]:
    """(entry id, event id) of a partition's stream, read past our own code."""
    return [(entry_id, fields[b"i"]) for entry_id, fields in client.xrange(LogKeys(TAGS[partition]).stream)]


def open_log(client: redis.Redis) -> RedisEventLog:
    """A log that has appended once, so that its connection stands and knows the script."""
    log = RedisEventLog(client, TAGS)
    assert [receipt.status for receipt in log.append([BEFORE])] == ["appended"]
    return log


def user_without(server: RedisServer, *commands: str) -> redis.Redis:
    """A client of a user who may not run some commands, as with a hosted Redis."""
    refused = [f"-{command}" for command in commands]
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "guest", "reset", "on", ">secret", "~*", "+@all", *refused)
    return connect(server.url.replace("unix://", "unix://guest:secret@"))


def until_answered(call: Callable[[], list[AppendReceipt]]) -> list[AppendReceipt]:
    """What the caller does: send again for as long as Redis does not answer."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return call()
        except StoreUnavailable:
            assert time.monotonic() < until


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# Keys


def test_appending_makes_the_documented_keys_and_no_other(redis_client: redis.Redis) -> None:
    log = RedisEventLog(redis_client, TAGS)
    log.append([mention(i, f"o{i}") for i in range(200)])
    log.append(side_events(HERE))
    log.append([mention(0, "o0", "other"), mention(900, HERE)], expected_heads={HERE: 1})
    log.close()
    made = {key.decode() for key in redis_client.scan_iter(count=1_000)}
    rest = {name.partition("}:")[2] for name in made if name.startswith(tuple(f"{{{tag}}}:" for tag in TAGS))}
    assert len(made) > PARTITIONS * 4
    assert {re.sub(r"\d+", "<bucket>", name) for name in rest} == {"meta", "ev", "heads", "keys", "ids:<bucket>"}
    assert all(name.startswith(tuple(f"{{{tag}}}:" for tag in TAGS)) for name in made)


def test_all_keys_of_a_partition_lie_in_one_cluster_slot(redis_client: redis.Redis) -> None:
    log = RedisEventLog(redis_client, TAGS)
    log.append([mention(i, f"o{i}") for i in range(200)])
    log.close()
    slots = {(key.partition(b"}")[0], key_slot(key)) for key in redis_client.scan_iter(count=1_000)}
    assert slots == {(f"{{{tag}".encode(), crc16(tag) % SLOTS) for tag in TAGS}


def test_nothing_is_appended_to_a_log_of_which_an_entry_is_gone(redis_client: redis.Redis) -> None:
    log = open_log(redis_client)
    log.append([mention(1, HERE), mention(2, HERE)])
    stream = LogKeys(TAGS[1]).stream
    redis_client.xdel(stream, b"2-0")
    refused = log.append([mention(3, HERE)])[0]
    log.close()
    assert refused.status == "failed"
    assert "partition 1: its log has " in (refused.error or "")
    assert [entry_id for entry_id, _ in entries_of(redis_client)] == [b"1-0", b"3-0"]


@each_row("partitions", [1, 2, 8, 16, 64])
def test_partitions_are_spread_evenly_over_the_slots_of_a_cluster(partitions: int) -> None:
    slots = [key_slot(LogKeys(tag).stream.encode()) for tag in spread_tags(partitions)]
    shares = min(partitions, EIGHT_PRIMARIES)
    assert Counter(slot * shares // SLOTS for slot in slots) == dict.fromkeys(range(shares), partitions // shares)


def test_the_log_never_scans_keys_and_names_every_key_that_its_script_touches(real_redis_client: redis.Redis) -> None:
    log = open_log(real_redis_client)
    with real_redis_client.monitor() as monitor:
        log.append([mention(1, HERE), mention(2, THERE)])
        real_redis_client.echo("that was it")
        seen: list[str] = []
        while "that was it" not in "".join(seen[-1:]):
            seen.append(monitor.next_command()["command"])
    seen = [line for line in seen if not line.startswith("CLIENT SETINFO")]  # redis-py says who it is, to 7.2 and newer
    named = {word for line in seen if line.upper().startswith("EVALSHA") for word in line.split() if word[:2] == "{e"}
    touched = {word for line in seen if not line.upper().startswith("EVALSHA") for word in line.split()[1:2]}
    commands = {line.split()[0].upper() for line in seen}
    assert {key for key in touched if key.startswith("{")} <= named
    assert commands <= {"EVALSHA", "HGET", "HMGET", "HSET", "TIME", "XLEN", "XADD", "ECHO", "INFO"}


# Receipts


@pytest.mark.parametrize(
    ("changed", "fsynced"),
    [
        ({}, True), ({"maxmemory-policy": "volatile-lru"}, True), ({"appendfsync": "everysec"}, False),
        ({"no-appendfsync-on-rewrite": "yes"}, False), ({"appendonly": "no"}, False),
        ({"aof-load-truncated": "yes"}, False), ({"maxmemory-policy": "allkeys-lru"}, False),
    ],
)  # fmt: skip
def test_a_receipt_says_fsynced_only_when_an_answered_write_is_on_disk_and_stays(
    real_redis_client: redis.Redis, changed: dict[str, str], fsynced: bool
) -> None:
    settings = {"appendonly": "yes", "appendfsync": "always"} | changed
    for name, value in settings.items():
        real_redis_client.config_set(name, value)
    assert set(changed) <= set(KEPT_BY)
    with closing(RedisEventLog(real_redis_client, TAGS)) as log:
        assert [receipt.fsynced for receipt in log.append([mention(1), mention(1)])] == [fsynced, fsynced]


def test_a_receipt_says_null_where_the_server_does_not_tell(redis_server: RedisServer) -> None:
    with user_without(redis_server, "config") as client, closing(RedisEventLog(client, TAGS)) as log:
        assert [receipt.fsynced for receipt in log.append([mention(1)])] == [None]


def test_a_new_connection_asks_anew_what_the_server_promises(redis_server: RedisServer) -> None:
    with redis_server.client() as client, closing(RedisEventLog(client, TAGS)) as log:
        assert log.append([mention(1)])[0].fsynced is False
        client.config_set("appendfsync", "always")
        client.config_set("appendonly", "yes")
        client.client_kill_filter(_type="normal", skipme=True)
        assert until_answered(lambda: log.append([mention(2)]))[0].fsynced is True


def test_what_was_refused_claims_no_replica_and_no_disk() -> None:
    with fake_client() as client, closing(RedisEventLog(client, TAGS)) as log:
        log.append([mention(1, HERE)])
        refused = log.append([mention(1, HERE, "other"), mention(2, HERE)])
        assert [(receipt.fsynced, receipt.replicas) for receipt in refused] == [(None, 0), (None, 0)]


def test_receipts_count_the_replicas_that_have_the_events_also_for_duplicates(free_port: int) -> None:
    primary = RedisServer(wheel_server(), port=str(free_port), repl_diskless_sync_delay="0")
    replica = RedisServer(wheel_server())
    try:
        with primary.client() as client, replica.client() as copy:
            copy.execute_command("REPLICAOF", "127.0.0.1", free_port)
            wait_until(lambda: copy.info("replication")["master_link_status"] == "up")
            with closing(RedisEventLog(client, TAGS, proof=Proof(1, timeout_ms=5_000))) as log:
                batch = [mention(1, HERE), mention(2, THERE)]
                assert [(r.status, r.replicas) for r in log.append(batch)] == [("appended", 1)] * 2
                assert entries_of(copy) == entries_of(client)
                assert [(r.status, r.replicas) for r in log.append(batch)] == [("already_appended", 1)] * 2
                refused = log.append([mention(1, HERE, "other"), batch[0]])
                assert [(r.status, r.replicas) for r in refused] == [("conflict", 0), ("already_appended", 0)]
    finally:
        replica.stop()
        primary.stop()


def test_what_too_few_replicas_have_is_written_and_not_proved(real_redis_client: redis.Redis) -> None:
    with closing(RedisEventLog(real_redis_client, TAGS, proof=Proof(1, timeout_ms=1))) as log:
        for status in ("appended", "already_appended"):
            with pytest.raises(UnderReplicated) as refused:
                log.append([mention(1)])
            (told,) = refused.value.context["receipts"]
            assert (told["status"], told["replicas"]) == (status, 0)
        assert log.head(partition_of(mention(1).owner, len(TAGS))) == 1


def test_what_was_written_and_not_proved_may_be_gone_and_is_appended_anew(real_redis_client: redis.Redis) -> None:
    """As after a failover to a replica that never had it: nobody was promised that it stays."""
    with closing(RedisEventLog(real_redis_client, TAGS, proof=Proof(1, timeout_ms=1))) as log:
        for _ in range(2):
            with pytest.raises(UnderReplicated) as refused:
                log.append([mention(1)])
            (told,) = refused.value.context["receipts"]
            assert told["status"] == "appended"
            real_redis_client.flushall()


# Full


@pytest.fixture
def heavy(real_redis_client: redis.Redis) -> Iterator[Callable[[float], RedisEventLog]]:
    """Gives a fresh log on a Redis of which a share of maxmemory is used."""
    real_redis_client.setrange("ballast", 40_000_000, "x")
    opened: list[RedisEventLog] = []

    def filled_to(share: float) -> RedisEventLog:
        used = int(real_redis_client.info("memory")["used_memory"])
        real_redis_client.config_set("maxmemory", int(used / share))
        opened.append(RedisEventLog(real_redis_client, TAGS))
        return opened[-1]

    yield filled_to
    for log in opened:
        log.close()


def test_from_75_percent_on_requests_of_accesses_alone_are_refused(
    heavy: Callable[[float], RedisEventLog], real_redis_client: redis.Redis
) -> None:
    access = side_events()[0]
    log = heavy(0.77)
    with pytest.raises(StoreFull, match=r"77% of its maxmemory.*from 75%.*send the same request again") as refusal:
        log.append([access])
    assert refusal.value.context["retry_after"] > 0
    assert real_redis_client.keys() == [b"ballast"]
    assert [receipt.status for receipt in log.append([mention(1), access])] == ["appended", "appended"]


def test_from_85_percent_on_every_request_is_refused_and_nothing_is_written(
    heavy: Callable[[float], RedisEventLog], real_redis_client: redis.Redis
) -> None:
    with pytest.raises(StoreFull, match="appends are refused from 85% on"):
        heavy(0.87).append([mention(1)])
    assert real_redis_client.keys() == [b"ballast"]


def test_an_append_that_meets_maxmemory_in_the_script_fails_whole_and_succeeds_when_sent_again(
    redis_server: RedisServer,
) -> None:
    batch = [mention(i, owner) for i, owner in enumerate([HERE, THERE, HERE])]
    with user_without(redis_server, "info") as client, closing(RedisEventLog(client, TAGS)) as log:
        client.config_set("maxmemory", 1)
        receipts = log.append(batch)
        assert [(receipt.status, receipt.position) for receipt in receipts] == [("failed", None)] * 3
        assert all("maxmemory" in (r.error or "") and "free memory" in (r.error or "") for r in receipts)
        client.config_set("maxmemory", 0)
        assert client.dbsize() == 0
        assert [receipt.status for receipt in log.append(batch)] == ["appended"] * 3


def test_a_script_during_which_memory_runs_out_still_writes_its_part_whole(redis_server: RedisServer) -> None:
    long = [
        event(TurnRecorded(turn_id=f"t{i}", role="user", text="y" * 60_000), owner=HERE, number=i) for i in range(99)
    ]
    with user_without(redis_server, "info") as client, closing(open_log(client)) as log:
        with redis_server.client() as operator:
            operator.config_set("maxmemory", int(operator.info("memory")["used_memory"]) + 12_000_000)
            statuses = Counter(r.status for i in range(4) for r in log.append(long_ids(long, i)))
            operator.config_set("maxmemory", 0)
        assert set(statuses) == {"appended", "failed"}
        assert all(count % len(long) == 0 for count in statuses.values())
        stored = entries_of(client)
        assert len(stored) == 1 + statuses["appended"]
        assert [entry_id for entry_id, _ in stored] == [b"%d-0" % seq for seq in range(1, len(stored) + 1)]
        assert log.head(1) == len(stored)


def long_ids(events: list[Prepared], generation: int) -> list[Prepared]:
    """The same events under other ids."""
    return [e._replace(raw_id=bytes([generation]) + e.raw_id[1:]) for e in events]


# Away


def test_a_replica_refuses_with_advice_and_nothing_is_written(redis_server: RedisServer) -> None:
    with redis_server.client() as client, closing(open_log(client)) as log:
        client.execute_command("REPLICAOF", "127.0.0.1", "1")
        receipts = log.append([mention(1, HERE), mention(2, THERE)])
        assert [receipt.status for receipt in receipts] == ["failed", "failed"]
        assert all("read-only" in (r.error or "") and "against the primary" in (r.error or "") for r in receipts)
        assert entries_of(client) == [(b"1-0", BEFORE.raw_id)]


def test_too_few_replicas_refuse_with_advice(real_redis_client: redis.Redis) -> None:
    with closing(open_log(real_redis_client)) as log:
        real_redis_client.config_set("min-replicas-to-write", "1")
        receipts = log.append([mention(1, HERE)])
        assert [receipt.status for receipt in receipts] == ["failed"]
        assert "takes no writes" in (receipts[0].error or "")


def test_a_server_that_stalls_gets_the_request_sent_again_and_holds_it_once(redis_server: RedisServer) -> None:
    batch = [mention(1, HERE), mention(2, HERE)]
    with redis_server.client(timeout=3.0) as client, closing(open_log(client)) as log:
        os.kill(redis_server.process.pid, signal.SIGSTOP)
        try:
            with pytest.raises(StoreUnavailable, match="can be sent again safely") as lost:
                log.append(batch)
        finally:
            os.kill(redis_server.process.pid, signal.SIGCONT)
        assert "whether it was written is not known" in lost.value.message
        receipts = until_answered(lambda: log.append(batch))
        assert [receipt.position for receipt in receipts] == ["1:2", "1:3"]
        assert all(receipt.written for receipt in receipts)
        assert [event_id for _, event_id in entries_of(client)] == [BEFORE.raw_id, *(e.raw_id for e in batch)]


def test_a_pause_of_writes_gets_the_request_sent_again_and_holds_it_once(redis_server: RedisServer) -> None:
    with redis_server.client(timeout=3.0) as client, redis_server.client() as operator:
        with closing(open_log(client)) as log:
            operator.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
            with pytest.raises(StoreUnavailable, match="can be sent again safely"):
                log.append([mention(1, HERE)])
            operator.execute_command("CLIENT", "UNPAUSE")
            assert log.append([mention(1, HERE)])[0].position == "1:2"
            assert [event_id for _, event_id in entries_of(client)] == [BEFORE.raw_id, mention(1, HERE).raw_id]


def test_all_idle_connections_that_were_cut_are_made_anew(real_redis_client: redis.Redis) -> None:
    pool = WirePool(real_redis_client)
    with pool.wire() as one, pool.wire() as two, pool.wire() as three:
        for wire in (one, two, three):
            wire.call("PING")
    real_redis_client.client_kill_filter(_type="normal", skipme=True)
    with pool.wire() as one, pool.wire() as two, pool.wire() as three:
        assert [wire.call("PING") for wire in (one, two, three)] == [b"PONG"] * 3
        assert [wire.generation for wire in (one, two, three)] == [2, 2, 2]
    pool.close()


def test_a_connection_that_is_cut_in_use_fails_that_call_only(real_redis_client: redis.Redis) -> None:
    pool = WirePool(real_redis_client)
    with pool.wire() as wire:
        wire.call("PING")
        real_redis_client.client_kill_filter(_type="normal", skipme=True)
        with pytest.raises(StoreUnavailable, match="can be sent again safely"):
            wire.call("PING")
    with pool.wire() as wire:
        assert wire.call("PING") == b"PONG"
    pool.close()


def test_scripts_that_the_server_forgot_are_loaded_again(redis_client: redis.Redis) -> None:
    with closing(open_log(redis_client)) as log:
        redis_client.script_flush()
        receipts = log.append([mention(1, HERE), mention(2, THERE)])
        assert [(receipt.status, receipt.position) for receipt in receipts] == [
            ("appended", "1:2"),
            ("appended", "2:1"),
        ]


def test_scripts_that_the_server_forgets_between_two_parts_of_a_request_are_loaded_again(
    real_redis_client: redis.Redis,
) -> None:
    asked: list[int] = []

    def chance(size: int) -> bytes:
        asked.append(size)
        if len(asked) == 2:  # the second part is made ready, the first is on its way
            real_redis_client.script_flush()
        return token_bytes(size)

    with closing(RedisEventLog(real_redis_client, TAGS, chance=chance)) as log:
        log.append([mention("a", HERE), mention("b", THERE)])
        asked.clear()
        receipts = log.append([*(mention(number, HERE) for number in range(600)), mention("last", THERE)])
    assert {receipt.status for receipt in receipts} == {"appended"}


def test_where_no_server_listens_the_error_says_so() -> None:
    with connect("unix:///nowhere/s") as client, closing(RedisEventLog(client, TAGS)) as log:
        with pytest.raises(StoreUnavailable, match=r"no connection to Redis.*No such file"):
            log.append([mention(1)])


def test_a_wrong_password_is_told_as_such(redis_server: RedisServer) -> None:
    user_without(redis_server, "info").close()
    with connect(redis_server.url.replace("unix://", "unix://guest:wrong@")) as client:
        with (
            closing(RedisEventLog(client, TAGS)) as log,
            pytest.raises(StoreUnavailable, match="check the user and pass"),
        ):
            log.append([mention(1)])


def test_the_clock_is_that_of_redis(real_redis_client: redis.Redis) -> None:
    def clock() -> int:
        seconds, micros = real_redis_client.time()
        return int(seconds) * 1_000_000 + int(micros)

    with closing(RedisEventLog(real_redis_client, TAGS)) as log:
        assert clock() <= log.now() <= log.now()


# The same answers as the log in memory

OWNERS = ["o0", "o1", "o2", "小明"]
events_of = st.builds(
    lambda number, owner, memory, side: side_events(owner)[side] if side < 3 else mention(number, owner, memory),
    st.integers(0, 6),
    st.sampled_from(OWNERS),
    st.sampled_from(["m1", "m1", "m1", "m2"]),
    st.integers(0, 9),
)
requests_of = st.lists(
    st.tuples(st.lists(events_of, max_size=6), st.dictionaries(st.sampled_from(OWNERS), st.integers(0, 4), max_size=2)),
    max_size=6,
)


def without_chance(read: list[Stored]) -> list[tuple[Any, ...]]:
    """Entries as any two logs hold them: without clocks, salts, and what is keyed by a secret or a salt."""
    return [(*one[:5], one.principal, one.level, len(one.beside), len(one.salt)) for one in read]


def agree(client: redis.Redis, requests: list[tuple[list[Prepared], dict[str, int]]]) -> None:
    client.flushall()
    plain = InMemoryEventLog(lambda: NOW, 2)
    with closing(RedisEventLog(client, spread_tags(2))) as log:
        for events, heads in requests:
            expected = [(r.event_id, r.status, r.position) for r in plain.append(events, expected_heads=heads)]
            assert [(r.event_id, r.status, r.position) for r in log.append(events, expected_heads=heads)] == expected
        assert [without_chance(log.read(p, 0)) for p in (0, 1)] == [without_chance(plain.read(p, 0)) for p in (0, 1)]
        assert [log.owner_head(owner) for owner in OWNERS] == [plain.owner_head(owner) for owner in OWNERS]
        assert {partition_of(owner, 2) for owner in OWNERS} == {0, 1}


@settings(max_examples=examples(40))
@given(requests=requests_of)
def test_on_fakeredis_any_requests_are_answered_as_in_memory(
    requests: list[tuple[list[Prepared], dict[str, int]]],
) -> None:
    with fake_client() as client:
        agree(client, requests)


@settings(max_examples=examples(60))
@given(requests=requests_of)
def test_on_redis_any_requests_are_answered_as_in_memory(
    redis_servers: Servers, requests: list[tuple[list[Prepared], dict[str, int]]]
) -> None:
    with redis_servers.get("valkey").client() as client:
        agree(client, requests)
