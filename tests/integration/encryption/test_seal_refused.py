"""When sealing is refused: while others use the store, and where it is not what it must be. Nothing is changed then."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
import redis

from engramlog_server.consumers.encryption import NotEqual
from engramlog_server.consumers.fold.presence import LEASE_MS, Presence
from engramlog_server.events.envelope import fingerprint
from engramlog_server.events.errors import DamagedState, KeyUnavailable, LogGap, OtherFormat, StoreFull, StoreMismatch
from engramlog_server.events.heads import Head
from engramlog_server.events.partitions import STORE_KEY, LogKeys, partition_of
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.kept.heads import HeadFile, LogChanged, heads_path
from engramlog_server.ops.keys.master import make_key_file
from engramlog_server.ops.store_replacement import InUse
from tests.given.dumped import dump
from tests.integration.unsealed import PARTITIONS, Unsealed


@pytest.fixture
def stream(store: Unsealed) -> str:
    """Of ada's partition."""
    return LogKeys(store.tags[partition_of("ada", PARTITIONS)]).stream


def test_it_is_refused_while_somebody_is_connected_and_names_who(store: Unsealed) -> None:
    before = dump(store.client)
    unnamed = [redis.Redis.from_url(store.server.url) for _ in range(6)]
    with redis.Redis.from_url(store.server.url, client_name="somebody") as other, ExitStack() as stack:
        for client in (*unnamed, other):
            stack.enter_context(client).ping()
        with pytest.raises(InUse, match=r"named somebody.*Stop every `engramlog`.*--alone.*Nothing was changed"):
            store.seal(alone=False)
    assert dump(store.client) == before


def test_it_is_refused_while_a_fold_worker_lives_whoever_answers_for_connections(store: Unsealed) -> None:
    wire = open_wire(store.client)
    seconds, _ = wire.call("TIME")
    Presence(wire, "host-1-w", LEASE_MS, {}).beat(int(seconds) * 1_000 + LEASE_MS, [0, 1], 0)
    wire.close()
    before = dump(store.client)
    with pytest.raises(InUse, match=r"worker host-1-w \(holds 2 partition"):
        store.seal()
    assert dump(store.client) == before


def test_a_log_with_a_gap_is_refused_before_anything_is_changed(store: Unsealed, stream: str) -> None:
    store.client.xdel(stream, "3-0")
    before = dump(store.client)
    with pytest.raises(LogGap, match="its log ends at"):
        store.seal()
    assert dump(store.client) == before


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        (b"e", b"{}", "is not the one that was committed to"),
        (b"s", b"0" * 16, "is not the one that was committed to"),
        (b"e", b"\x02 sealed by whom", "is sealed already, in a store that lies open"),
    ],
)
def test_a_body_that_is_not_what_was_committed_to_is_refused_before_anything_is_changed(
    store: Unsealed, stream: str, field: bytes, value: bytes, told: str
) -> None:
    rows = store.client.xrange(stream)
    store.client.delete(stream)
    for number, (entry, fields) in enumerate(rows):
        store.client.xadd(stream, {**fields, field: value} if number == 1 else fields, id=entry)
    before = dump(store.client)
    with pytest.raises((DamagedState, OtherFormat), match=told):
        store.seal()
    assert dump(store.client) == before


def test_an_owner_without_a_secret_is_refused_by_name(store: Unsealed) -> None:
    store.client.hdel(LogKeys(store.tags[partition_of("ada", PARTITIONS)]).secrets, "ada")
    before = dump(store.client)
    with pytest.raises(DamagedState, match="owner 'ada' has events and no secret"):
        store.seal()
    assert dump(store.client) == before


def test_a_log_that_does_not_meet_a_head_noted_before_is_refused(store: Unsealed) -> None:
    partition = partition_of("ada", PARTITIONS)
    path = heads_path(store.settings, "test")
    HeadFile(path).append("2026-11-20T00:00:00Z", "test", [Head(partition, 2, "00" * 32)])
    before = dump(store.client)
    with pytest.raises(LogChanged, match="nothing was changed"):
        store.seal()
    assert dump(store.client) == before


def test_where_a_copy_has_no_room_nothing_is_changed(store: Unsealed) -> None:
    store.client.config_set("maxmemory", int(store.client.info("memory")["used_memory"]) + 100_000)
    before = dump(store.client)
    with pytest.raises(StoreFull, match=r"sealing needs about .* bytes of memory .*Nothing was changed"):
        store.seal()
    assert dump(store.client) == before


def test_a_store_of_a_newer_release_is_refused(store: Unsealed) -> None:
    store.client.hset(STORE_KEY, "format", "3")
    before = dump(store.client)
    with pytest.raises(OtherFormat, match="of a newer release"):
        store.seal()
    assert dump(store.client) == before


def test_a_sealed_store_is_not_sealed_under_another_key(store: Unsealed, tmp_path: Path) -> None:
    store.seal()
    before = dump(store.client)
    make_key_file(tmp_path / "other")
    store.settings = store.settings.model_copy(update={"sealed_by": str(tmp_path / "other")})
    with pytest.raises(StoreMismatch, match="sealed under another master key"):
        store.seal()
    assert dump(store.client) == before


@pytest.mark.parametrize("changed", ["a body", "a line", "a field", "an entry less"])
def test_a_copy_that_is_not_the_log_is_not_taken_for_it(store: Unsealed, changed: str) -> None:
    """What somebody changed in the copy before it was read back is found; the log stays as it was."""
    tag = store.tags[partition_of("ada", PARTITIONS)]
    log, copy, lines = (f"{{{tag}}}:{name}" for name in ("ev", "ev:sealed", "keys:sealed"))
    before = store.client.xrange(log)

    def probe(at: str) -> None:
        if at != "before a copy is proved" or not store.client.exists(copy):
            return
        rows = store.client.xrange(copy)
        if changed == "a line":
            store.client.hset(lines, "ada", fingerprint(b"k" * 32, b"") * 4)
        elif changed == "an entry less":
            store.client.xdel(copy, rows[-1][0])
        else:
            entry, fields = rows[-1]
            part = {b"e": fields[b"e"][:-1] + b"?"} if changed == "a body" else {b"p": b"somebody"}
            store.client.delete(copy)
            for name, held in rows[:-1]:
                store.client.xadd(copy, held, id=name)
            store.client.xadd(copy, {**fields, **part}, id=entry)

    with pytest.raises((NotEqual, KeyUnavailable), match=r"in the sealed copy|lies open"):
        store.seal(probe=probe)
    assert store.client.xrange(log) == before
    assert changed == "a line" or not store.client.exists(copy, lines)
    assert store.seal()["done"]
    assert store.words() == []
