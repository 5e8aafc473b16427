"""A backup that is brought into an empty store: all of its moment is back, and nothing that was rejected or erased since."""

from __future__ import annotations

from typing import Any

import pytest

from engramlog_server.consumers import backup
from engramlog_server.events.errors import DamagedState
from engramlog_server.events.partitions import ACCEPTED_KEY, MODELS_KEY, LogKeys
from engramlog_server.events.redis.wire import Wire, open_wire
from engramlog_server.ops.backup import folder
from engramlog_server.ops.backup.folder import open_backup
from engramlog_server.ops.backup.restore import restore_backup
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.projections.redis.usage import day_key
from tests.acceptance.helpers.cli import event, lines
from tests.integration.backup.depot import EVENTS, OWNERS, Depot
from tests.servers import RedisServer


def tables(client: Any, tags: tuple[str, ...]) -> dict[str, Any]:
    """All of a store's log and what stands beside it, but what is of now."""
    wire, found = open_wire(client), dict[str, Any]()
    for tag in tags:
        keys = LogKeys(tag)
        found[keys.stream] = wire.call("XRANGE", keys.stream, "-", "+")
        for name in (keys.heads, keys.secrets, keys.deletions, *(keys.dedupe_of(bucket) for bucket in range(512))):
            found[name] = _pairs(wire, name)
        found[keys.meta] = {
            name: value for name, value in _pairs(wire, keys.meta).items() if name in (b"head", b"rec", b"sealed")
        }
    for name in (ACCEPTED_KEY, MODELS_KEY, day_key("2026-11-20")):
        found[name] = _pairs(wire, name)
    wire.close()
    return found


def _pairs(wire: Wire, name: str) -> dict[bytes, bytes]:
    flat = wire.call("HGETALL", name)
    return dict(zip(flat[::2], flat[1::2], strict=True))


def stored() -> dict[str, Any]:
    with open_the_store(load_settings()) as store:
        return tables(store.client, store.identity.tags)


def test_all_of_its_moment_is_back_byte_for_byte_and_verifies(depot: Depot) -> None:
    depot.cli("delete", "ada", "m0")
    depot.cli("cleanup", "ada")
    with open_the_store(load_settings()) as store:
        wire = store.wire()
        wire.call(
            "HSET",
            ACCEPTED_KEY,
            "0:1 2026-11-01T00:00:00Z",
            '{"partition":0,"seq":1,"at":"2026-11-01T00:00:00Z","reason":"x","found":null}',
        )
        wire.call("HSET", MODELS_KEY, "asked|review|m", 3)
        wire.call("HSET", day_key("2026-11-20"), "asked|review|m", 2)
        wire.close()
    before, answers, made = stored(), depot.answers(), depot.make()
    depot.say(range(100, 106))
    depot.on("new")
    told = depot.restore(made)
    assert (told["gone_on"], told["restored"]["taken_over"]) == (False, None)
    assert stored() == before
    assert depot.answers() == answers
    verified = depot.cli.json("verify")
    assert verified["differences"] == []
    assert verified["restored"]["backup"] == told["backup"]
    with open_the_store(load_settings()) as store:
        assert 0 < store.client.ttl(day_key("2026-11-20")) <= 400 * 86_400
    assert "restored from backup" in depot.cli("verify").out
    if depot.sealed:
        assert told["keys"]["newer_than_keys"] == 0


def test_what_was_sent_before_is_known_again_once_it_is_taken_over(depot: Depot) -> None:
    made = depot.make()
    depot.say(range(100, 103))
    depot.on("new")
    depot.restore(made)
    depot.cli.json("backup", "take-over", "--yes")
    again = [event(at, OWNERS[at % 3], content=f"the key word is w{at}w today") for at in range(EVENTS)]
    told = depot.cli.json("append", "-", stdin=lines(again))
    assert (told["appended"], told["already_appended"]) == (0, EVENTS)
    other = [event(0, "ada", content="something else under a known id")]
    assert depot.cli.json("append", "-", stdin=lines(other), code=1)["conflicts"]
    depot.say(range(100, 103))
    assert depot.cli.json("verify")["ok"]


def test_into_a_redis_of_ones_own_and_nowhere_else_than_into_an_empty_one(
    lying_open: Depot, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, made = lying_open.answers(), lying_open.make()
    lying_open.on("new")
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_server.url)
    with redis_server.client() as client:
        client.set("another:program", "1")
        client.set("{e0}:readm", "left")
        told = lying_open.restore(made, "--alone", code=1)
        assert "that Redis is not empty: {e0}:readm lies there" in told["message"]
        assert client.dbsize() == 2
        client.delete("{e0}:readm")
    lying_open.restore(made, "--alone")
    assert lying_open.answers() == answers
    with redis_server.client() as client:
        assert client.get("another:program") == b"1"
        # Two of one store, or another's, are never mixed.
        other = lying_open.cli.json("backup", "restore", str(made), "--yes")
        assert other["gone_on"] is True
    lying_open.cli.json("backup", "take-over", "--yes")
    assert "this store is in use" in lying_open.restore(made, code=1)["message"]
    second = lying_open.make("second")
    assert "lies there" in lying_open.restore(second, code=1)["message"]
    assert lying_open.answers() == answers


def test_a_store_that_is_there_is_refused_with_nothing_written(depot: Depot) -> None:
    made, before = depot.make(), stored()
    told = depot.restore(made, code=1)
    assert "lies there" in told["message"]
    assert "an empty store" in told["message"]
    assert stored() == before


def test_a_sealed_one_needs_its_keys_and_its_key_before_anything_is_written(
    sealed: Depot, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sealed.make()
    key = (sealed.folder / "key").read_bytes()
    sealed.on("new")

    monkeypatch.delenv("ENGRAMLOG_KEYS_BACKUP")
    assert "holds no keys" in sealed.restore(made, code=2)["message"]
    assert "No such file" in sealed.restore(made, "--keys", str(sealed.folder / "no"), code=2)["message"]
    with monkeypatch.context() as without:
        without.delenv("ENGRAMLOG_SEALED_BY")
        assert "sealed_by: got none" in sealed.restore(made, "--keys", str(sealed.keys), code=2)["message"]
    monkeypatch.setenv("ENGRAMLOG_DATA", str(sealed.folder / "another"))
    sealed.say(range(3))
    others = sealed.folder / "others"
    sealed.cli.json("backup", "keys", str(others))
    monkeypatch.setenv("ENGRAMLOG_DATA", str(sealed.folder / "new"))
    assert "and the backup is of store" in sealed.restore(made, "--keys", str(others), code=1)["message"]
    (sealed.folder / "key").unlink()
    sealed.cli("master-key", "--new", str(sealed.folder / "key"))
    assert "under another master key" in sealed.restore(made, "--keys", str(sealed.keys), code=1)["message"]
    (sealed.folder / "key").write_bytes(key)
    assert sealed.restore(made, "--keys", str(sealed.keys))["keys"]["newer_than_keys"] == 0


def test_others_on_a_redis_of_ones_own_are_refused_before_the_log_of_a_sealed_one_is_laid(
    sealed: Depot, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, made = sealed.answers(), sealed.make()
    sealed.on("new")
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_server.url)
    monkeypatch.setattr("engramlog_server.ops.store_replacement.ALONE_SECONDS", 0.0)
    with redis_server.client() as other:
        other.ping()
        told = sealed.restore(made, code=1)
        assert told["error"] == "InUse"
        assert other.dbsize() == 0
        assert sealed.restore(made, "--alone")["keys"]["newer_than_keys"] == 0
        assert other.exists("engramlog:store")
    assert sealed.answers() == answers


def test_what_is_newer_than_the_keys_is_told_by_the_exit_code(sealed: Depot) -> None:
    sealed.cli.json("backup", "keys")
    sealed.say(range(100, 103), "团队")
    made = sealed.folder / "backup"
    sealed.cli.json("backup", "make", str(made), "--without-keys")
    told = sealed.cli.json("backup", "check", str(made), code=3)["incomplete"]
    assert "does not open the 3 newest of its events" in told
    sealed.on("new")
    told = sealed.restore(made, code=3)
    assert told["keys"]["newer_than_keys"] == 3


def test_what_was_erased_since_the_backup_does_not_come_back(sealed: Depot, capsys: pytest.CaptureFixture[str]) -> None:
    made = sealed.make()
    assert sealed.cli.json("erase", "ada", "--yes")["verified"]
    assert sealed.cli.json("erase", "lin-yue", "m4", "--yes")["verified"]
    kept = sealed.answers("lin-yue", "团队")
    assert not [one for one in kept["lin-yue"] if "w4w" in one]
    sealed.lose()  # with the list of what was erased
    sealed.on("new")
    sealed.restore(made)
    assert sealed.cli.json("list", "ada", code=1)["error"] == "OwnerErased"
    assert sealed.answers("lin-yue", "团队") == kept
    raw = b"".join(one.read_bytes() for one in (sealed.data / "appendonlydir").iterdir())
    assert b"w4w" not in raw
    sealed.cli.json("backup", "take-over", "--yes")
    assert {one["verified"] for one in sealed.cli.json("erase", "--again", "--yes", code=3)["certificates"]} == {True}
    assert sealed.cli.json("verify")["differences"] == []
    assert sealed.answers("lin-yue", "团队") == kept


def test_what_was_rejected_since_the_backup_stays_back_before_anybody_asks(
    depot: Depot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REJECTIONS", str(depot.folder / "rejections"))
    (depot.folder / "rejections").mkdir(mode=0o700)
    made = depot.make()
    depot.cli("delete", "ada", "m0")
    kept = depot.answers()
    assert not [one for one in kept["ada"] if "w0w" in one]
    depot.lose()
    depot.on("new")
    told = depot.restore(made)
    assert "1 rejection of 1 owner" in told["rejections"]
    assert {one["name"] for one in told["alarms"]} == {"store_restored", "rejections_restored"}
    assert depot.answers() == kept
    assert depot.cli.json("verify")["differences"] == []


def test_a_log_is_laid_in_pages_of_a_bounded_size(lying_open: Depot, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, made, pages = lying_open.answers(), lying_open.make(), list[int]()
    monkeypatch.setattr(folder, "PAGE_BYTES", 1_000)
    lying_open.on("new")
    lay = backup.lay

    def counted(wire: Wire, tag: str, backup: str, after: int, some: Any) -> None:
        pages.append(len(some))
        lay(wire, tag, backup, after, some)

    monkeypatch.setattr("engramlog_server.ops.backup.restore.lay", counted)
    restore_backup(load_settings(), open_backup(made), None)
    assert sum(pages) == EVENTS
    assert max(pages) < 4
    assert lying_open.answers() == answers


def test_an_owner_without_events_keeps_the_secret_that_ids_of_words_were_made_by(lying_open: Depot) -> None:
    with open_the_store(load_settings()) as store:
        wire = store.wire()
        for tag in store.identity.tags:
            wire.call(
                "HSET",
                LogKeys(tag).secrets,
                *(part for n in range(1_200) for part in (f"early-{n}", bytes([n % 256] * 32))),
            )
        wire.close()
    before, made = stored(), lying_open.make()
    lying_open.on("new")
    lying_open.restore(made)
    assert stored() == before


@pytest.mark.parametrize("partitions", ["1", "16"])
def test_partitions_without_an_event_come_back_too(
    lying_open: Depot, monkeypatch: pytest.MonkeyPatch, partitions: str
) -> None:
    monkeypatch.setenv("ENGRAMLOG_PARTITIONS", partitions)
    lying_open.on("other")
    lying_open.say(range(1))
    with open_the_store(load_settings()) as store:
        wire = store.wire()
        for tag in store.identity.tags:
            wire.call("HSET", LogKeys(tag).secrets, "early", bytes(32))
        wire.close()
    before, made = stored(), lying_open.make()
    lying_open.on("new")
    lying_open.restore(made)
    assert stored() == before
    assert lying_open.cli.json("status")["events"] == 1
    lying_open.cli.json("backup", "take-over", "--yes")
    lying_open.say(range(1, 40))
    assert lying_open.cli.json("verify")["ok"]


def test_one_that_another_process_writes_into_is_not_taken_for_restored(
    lying_open: Depot, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = lying_open.make()
    lying_open.on("new")
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_server.url)
    client = redis_server.client()

    def meddles(point: str) -> None:
        if point == "after a partition is laid" and client.exists("{e0}:ids:7") != 2:
            for name in client.keys("{*}:ids:*"):
                for field, value in client.hgetall(name).items():
                    client.hset(name, field, b"another." + value[8:])

    with pytest.raises(DamagedState, match="what was laid is not what the backup has"):
        restore_backup(load_settings(), open_backup(made), None, alone=True, probe=meddles)
    assert "is being restored" in lying_open.cli("status", code=1).err
    client.close()
