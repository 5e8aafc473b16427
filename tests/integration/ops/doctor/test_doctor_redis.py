"""`engramlog doctor` at a Redis of one's own: what it keeps, who it lets in, who follows it, who folds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.partitions import partition_of
from engramlog_server.events.redis.wire import open_wire
from engramlog_server.ops.keys.master import make_key_file
from engramlog_server.projections.redis.create import read_identity
from tests.acceptance.helpers.cli import Cli
from tests.chaos.stage import free_port
from tests.given.client import append_unreadable
from tests.integration.live import wait_until
from tests.integration.ops.doctor.test_doctor_folder import Told, found
from tests.servers import RedisServer, wheel_server

PASSWORD = "fjord-otter-42"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "master-key"
    assert make_key_file(file)
    return file


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    redis_server: RedisServer,
    key: Path,
) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_server.url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(key))
    return Cli(monkeypatch, capfd)


@pytest.fixture
def sound(cli: Cli, redis_server: RedisServer) -> Cli:
    """The same with a store, on a Redis that keeps what it is told."""
    with redis_server.client() as client:
        for name, value in {"appendonly": "yes", "appendfsync": "always"}.items():
            client.config_set(name, value)
        cli("add", "ada", "Ada likes coffee")
        wait_until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0)
    return cli


def test_where_redis_holds_no_store_none_is_made(cli: Cli, redis_server: RedisServer, tmp_path: Path) -> None:
    assert "holds no store yet" in cli("doctor", code=3).err
    with redis_server.client() as client:
        assert client.dbsize() == 0
    assert not (tmp_path / "data").exists()


def test_a_sound_redis_has_nothing_wrong_and_is_not_written_to(sound: Cli, redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        before = client.info("persistence")["aof_current_size"]
        told = found(sound)
        assert client.info("persistence")["aof_current_size"] == before
    assert told["redis", "durability"]["result"] == "ok"
    assert told["sealing", "contents"]["result"] == "ok"
    assert told["disk", "disk"]["result"] == "unknown"
    assert told["processes", "workers"]["result"] == "advice"


@pytest.mark.parametrize(
    ("setting", "value", "result"),
    [
        ("appendonly", "no", "wrong"),
        ("appendfsync", "no", "wrong"),
        ("appendfsync", "everysec", "advice"),
        ("no-appendfsync-on-rewrite", "yes", "advice"),
        ("aof-load-truncated", "yes", "advice"),
        ("maxmemory-policy", "allkeys-lru", "advice"),
        ("maxmemory-policy", "volatile-ttl", "advice"),
    ],
)
def test_a_setting_that_loses_what_was_answered(
    sound: Cli, redis_server: RedisServer, setting: str, value: str, result: str
) -> None:
    with redis_server.client() as client:
        client.config_set(setting, value)
    told = found(sound, code=int(result == "wrong"))["redis", setting]
    assert told["result"] == result
    assert f"CONFIG SET {setting}" in told["advice"]


def test_a_redis_that_cannot_wait_for_the_disk_is_told_where_appends_are_to(
    sound: Cli, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ("redis", "wait for the disk") not in found(sound)
    monkeypatch.setenv("ENGRAMLOG_WAIT_FSYNC", "true")
    told = found(sound)["redis", "wait for the disk"]
    assert told["result"] == ("ok" if redis_server.version >= (7, 2) else "advice")


def test_a_redis_that_became_a_replica(sound: Cli, redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        client.execute_command("REPLICAOF", "127.0.0.1", "1")
        assert "nothing can be written" in found(sound, code=1)["redis", "replicas"]["found"]


def test_a_redis_that_does_not_answer_is_wrong_and_the_rest_goes_on(
    sound: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", f"unix://{tmp_path}/nobody")
    told = found(sound, code=1)
    assert told["redis", "answers"]["result"] == "wrong"
    assert told["permissions", "data folder"]["result"] == "ok"
    assert ("sealing", "contents") not in told


def test_another_master_key_is_wrong(sound: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert make_key_file(tmp_path / "another")
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", str(tmp_path / "another"))
    told = found(sound, code=1)["sealing", "master key"]
    assert "another master key" in told["found"]


def test_events_that_nobody_folds(sound: Cli, redis_server: RedisServer) -> None:
    with redis_server.client() as client:
        wire = open_wire(client)
        identity = read_identity(wire)
        assert identity is not None
        append_unreadable(wire, identity.tags[partition_of("ada", identity.partitions)], "ada")
        wire.close()
    told = found(sound, code=1)
    assert told["processes", "workers"]["result"] == "wrong"
    assert "1 event waits to be folded" in told["processes", "workers"]["found"]


def test_rejections_in_a_folder_that_others_can_enter(
    sound: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "rejections"
    folder.mkdir()
    folder.chmod(0o755)
    monkeypatch.setenv("ENGRAMLOG_REJECTIONS", str(folder))
    assert found(sound, code=1)["permissions", "ENGRAMLOG_REJECTIONS"]["result"] == "wrong"
    folder.chmod(0o777)
    assert found(sound, code=1)["permissions", "ENGRAMLOG_REJECTIONS"]["result"] == "wrong"


@pytest.fixture
def over_tcp() -> Iterator[tuple[RedisServer, int]]:
    port = free_port()
    server = RedisServer(wheel_server(), port=str(port), appendonly="yes")
    yield server, port
    server.stop()


def way(cli: Cli) -> Told:
    answer: Any = found(cli)
    return {name: one for name, one in answer.items() if name[1] in ("password", "tls")}


def test_a_redis_that_lets_anybody_in(
    cli: Cli, over_tcp: tuple[RedisServer, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, port = over_tcp
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", f"redis://127.0.0.1:{port}")
    cli("add", "ada", "Ada likes coffee")
    assert {name: one["result"] for name, one in way(cli).items()} == {("redis", "password"): "advice"}
    with server.client() as client:
        client.config_set("requirepass", PASSWORD)
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", f"redis://:{PASSWORD}@127.0.0.1:{port}")
    assert {name: one["result"] for name, one in way(cli).items()} == {("redis", "password"): "ok"}
    assert PASSWORD not in cli("doctor", "--all").out


def test_replicas_that_follow_are_counted(
    cli: Cli, over_tcp: tuple[RedisServer, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, port = over_tcp
    with server.client() as client:
        client.config_set("repl-diskless-sync-delay", "0")
        monkeypatch.setenv("ENGRAMLOG_REDIS_URL", server.url)
        cli("add", "ada", "Ada likes coffee")
        replica = RedisServer(wheel_server())
        try:
            with replica.client() as other:
                other.execute_command("REPLICAOF", "127.0.0.1", str(port))
            wait_until(lambda: client.info("replication").get("slave0", {}).get("state") == "online")
            monkeypatch.setenv("ENGRAMLOG_MIN_REPLICAS", "1")
            assert found(cli)["redis", "replicas"]["found"] == "1 replica online, as appends wait for"
        finally:
            replica.stop()


def test_settings_that_redis_does_not_tell_are_unknown_and_the_rest_goes_on(
    cli: Cli, over_tcp: tuple[RedisServer, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, port = over_tcp
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "quiet", "on", f">{PASSWORD}", "~*", "&*", "+@all", "-config")
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", f"redis://quiet:{PASSWORD}@127.0.0.1:{port}")
    cli("add", "ada", "Ada likes coffee")
    told = found(cli)
    assert (told["redis", "durability"]["result"], told["redis", "durability"]["failed"]) == ("unknown", False)
    assert told["redis", "version"]["result"] == "ok"
