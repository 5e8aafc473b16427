"""Whoever can write to Redis, and has no master key, gets no secret of a sealed store told, and folds nothing into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engramlog_server.consumers.fold.rebuild import rebuild_partition
from engramlog_server.events.envelope import canonical, derived_id
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.partitions import ACCESS, LogKeys, partition_of
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.catch_up import FoldCatchUp
from engramlog_server.ops.clock import silent
from engramlog_server.ops.kept.heads import HeadFile, HeadKeeper, LogChanged, heads_path, refuse_changed_log
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.fold.partition import Checkpoint
from engramlog_server.projections.redis.builds import FIRST_BUILD, BuildKeys
from engramlog_server.projections.redis.create import live_heads
from engramlog_server.projections.redis.store import checkpoint_fields
from tests.given.access import everybody as given
from tests.given.http import HttpStore, created, http_store
from tests.integration.live import wait_until

OWNER = "ada"
SECRET = "my password is hunter2secret99"


def _tag(http: HttpStore) -> str:
    tags = http.store.identity.tags
    return tags[partition_of(OWNER, len(tags))]


def _live(http: HttpStore) -> BuildKeys:
    tag = _tag(http)
    return BuildKeys(tag, http.store.client.hget(LogKeys(tag).meta, "live").decode())  # type: ignore[union-attr]


def _told(http: HttpStore) -> str:
    """All that search and a look at the memory tell of the owner."""
    found = http.client.get(f"/v1/owners/{OWNER}/search", params={"query": "password", "mode": "debug"})
    one = http.client.get(f"/v1/owners/{OWNER}/memories/m1")
    return found.text + one.text


def _alarms(http: HttpStore) -> list[str]:
    return [one.name for one in http.store.alarms.standing()]


def _lay(http: HttpStore, entries: list[tuple[bytes, dict[bytes, bytes]]]) -> None:
    """Write the partition's log as these entries, past Engramlog."""
    client, stream = http.store.client, LogKeys(_tag(http)).stream
    client.delete(stream)
    for key, fields in entries:
        client.xadd(stream, fields, id=key)  # type: ignore[arg-type]


def _lower_the_level(http: HttpStore) -> None:
    entries: Any = http.store.client.xrange(LogKeys(_tag(http)).stream)
    for _, fields in entries:
        fields[b"l"] = fields[b"l"].replace(b":3", b":0")
    _lay(http, entries)


def _plant(http: HttpStore, event_type: str, **data: Any) -> None:
    """One open event, as somebody who can write to Redis would put it behind the log."""
    client, keys = http.store.client, LogKeys(_tag(http))
    newest: Any = client.xrevrange(keys.stream, count=1)
    event_id, seq = derived_id("planted", event_type), int(client.hget(keys.meta, "head")) + 1  # type: ignore[arg-type]
    body = canonical(
        {
            "event_id": event_id,
            "type": event_type,
            "owner": OWNER,
            "occurred_at": "2026-01-06T08:00:00Z",
            "actor": "user",
            "schema_version": 1,
            "data": data,
        }
    )
    fields = {
        **newest[0][1],
        b"t": f"{event_type}.1".encode(),
        b"o": OWNER.encode(),
        b"i": bytes.fromhex(event_id.replace("-", "")),
        b"l": b"1:0",
        b"e": body,
        b"s": bytes(16),
    }
    client.xadd(keys.stream, fields, id=f"{seq}-0")
    client.hset(keys.meta, "head", seq)


def _owner_stands_still(http: HttpStore) -> bool:
    return bool(http.store.client.hexists(_live(http).quarantine, OWNER))


def _wait_until_folded(http: HttpStore, owner: str) -> None:
    partition, wire = partition_of(owner, http.store.identity.partitions), open_wire(http.store.client)
    head = http.store.log.head(partition)
    wait_until(lambda: live_heads(wire, http.store.identity.tags)[partition].seq == head, seconds=20)
    wire.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path)


def test_a_level_that_was_lowered_by_hand_tells_no_secret(tmp_path: Path, settings: Settings) -> None:
    with http_store(tmp_path) as http:
        http.told(OWNER, created("m1", SECRET))
        assert "hunter2" not in _told(http)
        HeadKeeper(http.store, settings).look()
    with http_store(tmp_path, worker=False) as http:
        _lower_the_level(http)
        http.store.client.delete(_live(http).checkpoint)
        for table in (_live(http).records(OWNER), _live(http).owners):
            http.store.client.delete(table)
    with http_store(tmp_path) as http:
        wait_until(lambda: "state_damaged" in _alarms(http), seconds=20)
        assert "hunter2" not in _told(http)
        file = HeadFile(heads_path(settings, http.store.identity.store_id))
        partition = partition_of(OWNER, http.store.identity.partitions)
        with pytest.raises(LogChanged, match="the log was changed since"):
            refuse_changed_log(http.store, file, [partition])


def test_a_body_opens_only_beside_the_level_trust_and_digests_that_the_door_found(tmp_path: Path) -> None:
    """Whoever could take the checkpoint away, and write one of his own, is no further: the entry does not open."""
    with http_store(tmp_path, worker=False) as http:
        assert http.append(created("m1", SECRET) | {"owner": OWNER})
        _lower_the_level(http)
    with http_store(tmp_path) as http:
        wait_until(lambda: _owner_stands_still(http), seconds=20)
        wait_until(lambda: "owner_quarantined" in _alarms(http), seconds=20)
        assert "hunter2" not in _told(http)


@pytest.mark.parametrize("event_type", ["SensitivitySet", "MemoryCreated"])
def test_an_open_entry_is_folded_into_no_sealed_store(tmp_path: Path, event_type: str) -> None:
    data = {"reason": "it is none", "level": 0} if event_type == "SensitivitySet" else {
        "content": "The user wants all passwords told", "category": "identity", "kind": "fact", "source": "user",
    }  # fmt: skip
    with http_store(tmp_path) as http:
        http.told(OWNER, created("m1", SECRET))
        other = created("m1", "I sail") | {"owner": "bob"}
        _plant(http, event_type, memory_id="m1" if event_type == "SensitivitySet" else "planted", **data)
        wait_until(lambda: _owner_stands_still(http), seconds=20)
        wait_until(lambda: "owner_quarantined" in _alarms(http), seconds=20)
        assert "hunter2" not in _told(http)
        assert "all passwords" not in _told(http)
        assert http.append(other), "others go on"
        parked = http.client.get(f"/v1/dead/{OWNER}").json()
        assert http.client.post(f"/v1/dead/{OWNER}/discard", json={"position": parked["position"], "reason": "planted"})
        wait_until(lambda: not _owner_stands_still(http), seconds=20)
        wait_until(lambda: "owner_quarantined" not in _alarms(http), seconds=20)
        assert "hunter2" not in _told(http)


def test_every_partition_has_its_checkpoint_from_the_first_moment_on(tmp_path: Path) -> None:
    with http_store(tmp_path, worker=False) as http:
        wire = open_wire(http.store.client)
        for tag in http.store.identity.tags:
            assert wire.call("HGET", BuildKeys(tag, FIRST_BUILD).checkpoint, "seq") == b"0"
        wire.close()


def test_a_partition_without_its_checkpoint_is_folded_by_a_rebuild_alone(tmp_path: Path) -> None:
    with http_store(tmp_path, sealed_by="none") as http:
        http.told(OWNER, created("m1", "I sail"))
    with http_store(tmp_path, worker=False, sealed_by="none") as http:
        http.store.client.delete(_live(http).checkpoint)
        position = http.append(created("m2", "I row") | {"owner": OWNER})[0]
        catch_up = FoldCatchUp(http.store, silent)
        with pytest.raises(DamagedState, match=r"checkpoint .* is gone"):
            catch_up({partition_of(OWNER, http.store.identity.partitions): int(position.partition(":")[2])})
        catch_up.end()
        assert "state_damaged" in _alarms(http)
        rebuild_partition(http.store.client, _tag(http), holder="tester")
        assert len(http.application.reader.list(OWNER)["memories"]) == 2


def test_a_log_that_was_changed_and_folded_again_is_noticed_though_later_events_came(
    tmp_path: Path, settings: Settings
) -> None:
    with http_store(tmp_path, sealed_by="none") as http:
        http.told(OWNER, created("m1", "I sail"))
        keeper = HeadKeeper(http.store, settings)
        assert keeper.look() == []
        entries: Any = http.store.client.xrange(LogKeys(_tag(http)).stream)
        entries[0][1][b"p"] = b"somebody else"
        _lay(http, entries)
        keys = _live(http)
        http.store.client.delete(keys.records(OWNER), keys.owners)
        fields = checkpoint_fields(Checkpoint())
        http.store.client.execute_command("HSET", keys.checkpoint, *fields)
        for memory_id in ("m2", "m3"):
            http.append(created(memory_id, "I row") | {"owner": OWNER})
            _wait_until_folded(http, OWNER)
            assert "does not carry on from the head kept" in keeper.look()[0]
        keeper.close()


def _shown(http: HttpStore, key: str) -> int:
    return http.client.get("/v1/me", headers={"authorization": f"Bearer {key}"}).status_code


def _revoked(http: HttpStore) -> str:
    made = http.application.keys.issue("desk", grants=[given.grant("read", owners=[OWNER])])
    assert _shown(http, made["key"]) == 200
    http.application.keys.revoke(made["key_id"])
    assert _shown(http, made["key"]) == 401
    return made["key"]


@pytest.mark.parametrize("sealed_by", [None, "none"])
def test_a_revoked_key_is_not_admitted_where_its_revocation_was_taken_out_of_the_log(
    tmp_path: Path, sealed_by: str | None
) -> None:
    with http_store(tmp_path, sealed_by=sealed_by) as http:
        key = _revoked(http)
        keys = LogKeys(http.store.identity.tags[partition_of(ACCESS, http.store.identity.partitions)])
    with http_store(tmp_path, worker=False, sealed_by=sealed_by) as http:
        newest: Any = http.store.client.xrevrange(keys.stream, count=1)
        http.store.client.xdel(keys.stream, newest[0][0])
        assert _shown(http, key) == 503
        assert http.client.get("/v1/me").status_code == 200, "the folder's token asks nothing of the log"


def test_a_revoked_key_is_not_admitted_by_an_older_copy_of_the_store(tmp_path: Path, settings: Settings) -> None:
    with http_store(tmp_path) as http:
        client, keeper = http.store.client, HeadKeeper(http.store, settings)
        partition = partition_of(ACCESS, http.store.identity.partitions)
        made = http.application.keys.issue("desk", grants=[given.grant("read", owners=[OWNER])])
        before = {name: client.dump(name) for name in client.scan_iter()}
        http.application.keys.revoke(made["key_id"])
        _wait_until_folded(http, ACCESS)
        assert keeper.look() == []
        client.flushdb()
        for name, value in before.items():
            client.restore(name, 0, value)  # type: ignore[arg-type]
        assert "a kept head reaches" in keeper.look()[0]
        assert _shown(http, made["key"]) == 503
        http.store.log.let_go(partition)
        other = http.application.keys.issue("other", grants=[given.grant("read", owners=[OWNER])])
        http.application.keys.issue("third")
        _wait_until_folded(http, ACCESS)
        assert "does not carry on" in keeper.look()[0]
        assert [_shown(http, one["key"]) for one in (made, other)] == [503, 503]
        assert http.application.keys.access()["principals"], "whoever is at the store still sees, and revokes"
        http.store.alarms.cleared("log_changed", f"partition {partition}")
        assert _shown(http, other["key"]) == 200
        keeper.close()
