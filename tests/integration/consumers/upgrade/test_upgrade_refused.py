"""When an upgrade is refused: while others use the store, and where its log is not what it must be. Nothing is changed then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from consumers.fold.presence import LEASE_MS, Presence
from events.errors import LogGap, OtherFormat, StoreFull, StoreMismatch
from events.heads import Head
from events.parameters import PARAMETER_SET
from events.partitions import STORE_KEY, LogKeys, partition_of
from events.redis.wire import Wire, connect
from ops.bringing.frame import InUse
from ops.bringing.upgrade import carry_out, told_beforehand
from ops.kept.head_file import HeadFile, heads_path
from ops.kept.heads import LogChanged
from tests.integration.brought import STREAMS, Brought, again
from tests.release_0_2_0 import PARTITIONS, dump
from tests.servers import RedisServer


@pytest.fixture
def old(redis_server: RedisServer, tmp_path: Path) -> Iterator[Brought]:
    store = Brought(redis_server, tmp_path / "data")
    yield store
    store.client.close()


def test_it_is_refused_while_somebody_is_connected_and_names_who(old: Brought) -> None:
    before = dump(old.client)
    with redis.Redis.from_url(old.server.url, client_name="somebody") as other:
        other.ping()
        with pytest.raises(InUse, match=r"named somebody.*Stop every `engramlog`.*--alone.*Nothing was changed"):
            old.upgrade(alone=False)
    assert dump(old.client) == before


def test_it_is_refused_while_a_fold_worker_lives_whoever_answers_for_connections(old: Brought) -> None:
    wire = Wire(old.client)
    seconds, _ = wire.call("TIME")
    Presence(wire, "host-1-w", LEASE_MS, {}).beat(int(seconds) * 1_000 + LEASE_MS, [0, 1], 0)
    wire.close()
    before = dump(old.client)
    with pytest.raises(InUse, match=r"worker host-1-w \(holds 2 partition"):
        old.upgrade()
    assert dump(old.client) == before


def test_a_worker_that_was_killed_is_waited_for_until_its_lease_time_has_passed(old: Brought) -> None:
    wire, heard = Wire(old.client), []
    seconds, _ = wire.call("TIME")
    Presence(wire, "dead", LEASE_MS, {}).beat(int(seconds) * 1_000, [0], 0)
    wire.close()
    assert old.upgrade(seconds=60.0, on_wait=heard.append)["done"]
    assert any("worker dead" in told for told in heard)


def test_who_only_looks_on_is_told_and_no_reason_to_refuse(old: Brought) -> None:
    with connect(old.server.url, timeout=10.0) as watching, watching.monitor():
        old.client.close()
        others = told_beforehand(old.store)["others"]
        answer = old.upgrade(alone=False, seconds=60.0)
    assert "monitor" in {one["what"] for one in others}
    assert answer["done"]


def test_where_connections_are_not_told_somebody_has_to_answer_for_them(old: Brought) -> None:
    old.client.acl_setuser("few", enabled=True, nopass=True, keys=["*"], categories=["+@all"], commands=["-client"])
    path = old.server.url.removeprefix("unix://")
    try:
        with connect(f"unix://few:any@{path}", timeout=10.0) as few:
            store = old.store
            store.client = few
            with pytest.raises(InUse, match=r"does not tell who is connected.*--alone"):
                carry_out(store, seconds=0.0)
            assert carry_out(store, alone=True, seconds=0.0)["done"]
    finally:
        old.client.acl_deluser("few")


def test_a_log_with_a_gap_is_refused_before_anything_is_changed(old: Brought) -> None:
    old.client.xdel(STREAMS[2], "3-0")
    before = dump(old.client)
    with pytest.raises(LogGap, match=r"partition \{e3\}: its log ends at"):
        old.upgrade()
    assert dump(old.client) == before


def test_a_log_that_does_not_meet_a_head_noted_before_is_refused_before_anything_is_changed(old: Brought) -> None:
    noted = [one for one in old.told["status"]["partitions"] if one["head"]][-1]
    head = Head(noted["partition"], noted["checkpoint"], noted["chain"])
    file = HeadFile(heads_path(old.settings, old.store.identity.store_id))
    file.append("2026-11-20T00:00:00Z", old.store.identity.store_id, [head])
    stream = STREAMS[noted["partition"]]
    laid = old.client.xrange(stream)
    old.client.delete(stream)
    for at, fields in laid:
        old.client.xadd(stream, {name: value.replace(b"2026-", b"2025-") for name, value in fields.items()}, id=at)
    before = dump(old.client)
    assert old.client.xrange(stream) != laid
    with pytest.raises(LogChanged, match="put that file away"):
        old.upgrade()
    assert dump(old.client) == before


@pytest.mark.parametrize(
    ("field", "value", "error", "told"),
    [
        ("format", "3", OtherFormat, "of a newer release"),
        ("format", "2>3", OtherFormat, "of a newer release"),
        ("parameter_set", "2031-01", StoreMismatch, "parameter set 2031-01"),
    ],
)
def test_a_store_that_no_release_before_made_is_refused_and_left_alone(
    old: Brought, field: str, value: str, error: type[StoreMismatch], told: str
) -> None:
    old.client.hset(STORE_KEY, field, value)
    before = dump(old.client)
    with pytest.raises(error, match=told):
        old.upgrade()
    assert dump(old.client) == before


def test_an_entry_of_the_new_format_before_that_began_is_refused_by_name(old: Brought) -> None:
    tag, log = old.tags[2], old.log()
    one = next(one for one in old.events() if partition_of(one.owner, PARTITIONS) == 2)
    old.client.hset(STORE_KEY, mapping={"format": "2", "parameter_set": PARAMETER_SET})
    old.client.hset(LogKeys(tag).meta, "head", old.client.hget(LogKeys(tag).meta, "seq"))  # type: ignore[arg-type]
    assert log.append([again(one, body=one.body)])[0].status == "appended"
    log.close()
    old.client.hset(STORE_KEY, mapping={"format": "1>2"})
    with pytest.raises(LogGap, match="is of format 2, before that format began"):
        old.upgrade()
    assert old.client.hexists(LogKeys(tag).meta, "format2") is False


def test_where_a_second_build_has_no_room_nothing_is_changed(old: Brought) -> None:
    old.client.config_set("maxmemory", int(old.client.info("memory")["used_memory"]) + 100_000)
    before = dump(old.client)
    with pytest.raises(StoreFull, match="raise maxmemory"):
        old.upgrade()
    assert dump(old.client) == before
