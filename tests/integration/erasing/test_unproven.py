"""What could not be looked through is told by its place, and is no proof; what was found elsewhere is told before it."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from events.redis.wire import connect
from ops.embedded.binary import RedisBinary, find_redis_server
from ops.erasing.probes import Probes
from ops.erasing.report import Audit
from ops.erasing.residue import audit, places_of
from ops.erasing.scratch import NotLoaded, loaded
from tests.integration.erasing.erased_by_hand import Store, made, served
from tests.integration.live import wait_until
from tests.servers import RedisServer, wheel_server


@pytest.fixture(scope="module")
def erased(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RedisBinary, Probes]:
    binary, folder = find_redis_server(str(wheel_server())), tmp_path_factory.mktemp("erased") / "data"
    return folder, binary, made(folder, binary)


@pytest.fixture
def probes(erased: tuple[Path, RedisBinary, Probes]) -> Probes:
    return erased[2]


@pytest.fixture
def store(erased: tuple[Path, RedisBinary, Probes], tmp_path: Path) -> Iterator[Store]:
    with served(erased[0], tmp_path / "data", erased[1], Store) as found:
        yield found


def unproven(told: Audit) -> dict[str, str]:
    """What was not reached, and why."""
    assert told.exit_code == 3, told.lines
    assert told.findings == []
    assert msgspec.to_builtins(told)["unreached"]
    return {one.where: one.why for one in told.unreached}


def test_a_replica_is_not_proven_until_its_files_are_named(store: Store, probes: Probes, tmp_path: Path) -> None:
    replica = RedisServer(wheel_server(), appendonly="yes")
    try:
        with replica.client() as client:
            client.execute_command("REPLICAOF", "127.0.0.1", _port(store))
        wait_until(lambda: store.client.info("replication").get("slave0", {}).get("state") == "online")
        told = store.client.info("replication")["slave0"]
        name = f"{told['ip']}:{told['port']}"
        assert name in unproven(store.audit(probes))["redis"]
        folder = Path(replica.url.removeprefix("unix://")).parent
        wait_until(lambda: (folder / "appendonly.aof").exists() and _settled(replica))
        assert store.audit(probes, replicas={name: folder}).exit_code == 0
    finally:
        replica.stop()


def _port(store: Store) -> int:
    """A port on which the embedded Redis listens for a while."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    store.client.config_set("port", port)
    return port


def _settled(server: RedisServer) -> bool:
    with server.client() as client:
        told = client.info("persistence")
        return not (told["aof_rewrite_in_progress"] or told["aof_rewrite_scheduled"] or told["rdb_bgsave_in_progress"])


def test_a_redis_whose_folder_is_not_there_is_not_proven(store: Store, probes: Probes) -> None:
    places = places_of(store.settings, store.client)
    places.client = connect(f"redis://localhost:{_port(store)}")
    places.client.connection_pool.connection_kwargs["host"] = (
        "127.1"  # the same machine, by a name that does not tell it
    )
    assert "of another machine" in unproven(audit(probes, places))["redis"]
    places.client.close()


def test_a_redis_that_does_not_answer_is_not_proven(store: Store, probes: Probes, tmp_path: Path) -> None:
    places = places_of(store.settings, store.client)
    places.queue_url = f"unix://{tmp_path}/nobody"
    assert "could not be" in unproven(audit(probes, places))["queue"]


def test_a_redis_that_refuses_config_is_not_proven(store: Store, probes: Probes) -> None:
    store.client.execute_command("ACL", "SETUSER", "default", "-config")
    assert "could not be asked for" in unproven(store.audit(probes))["redis"]


def test_a_queue_of_its_own_is_looked_through_with_its_files(store: Store, probes: Probes) -> None:
    queue = RedisServer(wheel_server(), appendonly="yes")
    try:
        places = places_of(store.settings, store.client)
        places.queue_url = queue.url
        with queue.client() as client:
            client.set("rq:job:1", "nothing")
            assert audit(probes, places).exit_code == 0
            client.set("rq:job:1", next(iter(probes.words)))
            client.delete("rq:job:1")
        told = audit(probes, places)
        assert [one.where.rpartition("/")[2] for one in told.findings] == ["appendonly.aof"]
    finally:
        queue.stop()


@pytest.mark.parametrize(
    ("name", "raw", "why"),
    [
        ("a.zip", b"PK\x03\x04" + bytes(600), "zip"),
        ("a.zst", b"\x28\xb5\x2f\xfd" + bytes(600), "zstd"),
        ("a.age", b"age-encryption.org/v1\n", "age"),
        ("a.gz", b"\x1f\x8b\x08\x00" + bytes(600), "breaks off"),
        ("dump.rdb", b"REDIS0009" + bytes(600), "not loaded"),
        ("dump2.rdb", b"REDIS9999" + bytes(600), "not loaded"),
    ],
)
def test_what_cannot_be_unpacked_is_not_proven(store: Store, probes: Probes, name: str, raw: bytes, why: str) -> None:
    (store.folder / name).write_bytes(raw)
    assert why in unproven(store.audit(probes))[str(store.folder / name)]


def test_an_archive_that_breaks_off_is_not_proven(store: Store, probes: Probes, tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        archive.add(store.folder / "redis.log", "redis.log")
    path = tmp_path / "half.tar.gz"
    path.write_bytes(out.getvalue()[: len(out.getvalue()) // 2])
    assert "breaks off" in unproven(store.audit(probes, backups=[path]))[str(path)]


def test_a_link_and_a_path_that_is_not_there_are_not_proven(store: Store, probes: Probes, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (store.folder / "linked").symlink_to(tmp_path / "elsewhere")
    told = unproven(store.audit(probes, backups=[tmp_path / "missing", Path("/dev/null")]))
    assert "not followed" in told[str(store.folder / "linked")]
    assert "cannot be looked at" in told[str(tmp_path / "missing")]
    assert "no file" in told["/dev/null"]


def test_without_a_redis_server_nothing_that_redis_packed_is_proven(store: Store, probes: Probes) -> None:
    places = places_of(store.settings, store.client)
    places.binary = None
    assert any("no redis-server" in why for why in unproven(audit(probes, places)).values())


def test_a_file_that_redis_does_not_find_is_no_empty_one(
    erased: tuple[Path, RedisBinary, Probes], tmp_path: Path
) -> None:
    with pytest.raises(NotLoaded, match="did not find it"), loaded(tmp_path / "gone.rdb", 100, erased[1]):
        pass


def test_a_file_that_memory_is_too_small_for_is_not_loaded(
    store: Store, probes: Probes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.client.save()
    dump, archive = store.folder / "dump.rdb", tmp_path / "a.tar.gz"
    with tarfile.open(archive, "w:gz") as out:
        out.add(dump, "dump.rdb")
    monkeypatch.setattr("ops.erasing.scratch._memory", lambda: 2 * dump.stat().st_size)
    told = unproven(store.audit(probes, backups=[archive]))
    assert "of memory to be loaded" in told[str(dump)]
    assert "unpack it" in told[f"{archive} > dump.rdb"]


def test_what_is_found_is_told_before_what_was_not_reached(store: Store, probes: Probes, tmp_path: Path) -> None:
    store.client.set("x", next(iter(probes.words)))
    told = store.audit(probes, backups=[tmp_path / "missing"])
    assert told.exit_code == 1
    assert told.unreached
    assert told.lines[0].startswith("found in redis, ")
