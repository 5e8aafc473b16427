"""Append-only files cut and damaged on purpose: a torn tail costs whole scripts and is told, the rest is refused."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from engramlog_server.events.errors import EmbeddedRedisError, StoreMismatch
from engramlog_server.events.redis.server import Release
from engramlog_server.ops.embedded.lock import FolderLock
from engramlog_server.ops.embedded.process import ProgressBound, connect
from engramlog_server.ops.embedded.server import (
    RedisBinary,
    StoreFile,
    find_redis_server,
    open_folder,
    write_store_file,
)
from tests.patience import PATIENCE
from tests.servers import MISSING_NAMED, server_named

SCRIPTS = 200
TWO_WRITES = "redis.call('SET', KEYS[1], ARGV[1]) redis.call('RPUSH', KEYS[2], ARGV[1]) return 1"


def server(name: str) -> RedisBinary:
    """The bundled Valkey, or PATH's Redis 7."""
    binary = server_named(name)
    if binary is None:
        pytest.skip(MISSING_NAMED[name])
    return find_redis_server(str(binary))


@dataclass
class Folder:
    """A closed data folder with a store and SCRIPTS scripts of two writes each, and where its snapshot and tail lie."""

    path: Path
    binary: RedisBinary

    @property
    def tail(self) -> Path:
        return max(self.path.glob("appendonlydir/*.incr.aof"))

    @property
    def base(self) -> Path:
        return next(self.path.glob("appendonlydir/*.base.rdb"))

    def copy(self, name: str) -> Folder:
        return Folder(shutil.copytree(self.path, self.path.with_name(name)), self.binary)

    def contents(self) -> tuple[int, int, str | None]:
        """How many scripts' first and second writes are there (each from 0 without a gap), and what recovery told."""
        with open_folder(self.path, "command", binary=self.binary) as opened, connect(opened.socket_path) as client:
            firsts, seconds = len(client.keys("first:*")), client.lrange("seconds", 0, -1)
            assert all(client.exists(f"first:{number}") for number in range(firsts))
            assert seconds == [str(number) for number in range(len(seconds))]
            return firsts, len(seconds), opened.recovery


def filled(path: Path, binary: RedisBinary, *, rewritten: bool = False) -> Folder:
    with open_folder(path, "command", binary=binary) as opened, connect(opened.socket_path) as client:
        client.hset("engramlog:store", "store_id", "s1")
        opened.record_store("s1", 1, ["t"])
        if rewritten:
            client.mset({f"before:{number}": "x" * 100 for number in range(200)})
            client.bgrewriteaof()
            while client.info("persistence")["aof_rewrite_in_progress"]:
                client.ping()
        for number in range(SCRIPTS):
            client.eval(TWO_WRITES, 2, f"first:{number}", "seconds", number)
    return Folder(path, binary)


def of_redis_6(folder: Folder) -> Folder:
    """The same store as Redis 6.2 kept it: one plain file, which a server takes over as its base."""
    folder.tail.rename(folder.path / "appendonly.aof")
    shutil.rmtree(folder.path / "appendonlydir")
    store = StoreFile(store_id="s1", partitions=1, tags=("t",), newest_server_version="6.2.14")
    write_store_file(folder.path, store)
    return folder


@pytest.fixture(params=["valkey", "redis-7"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    return filled(tmp_path / "whole", server(request.param), rewritten=True)


def free(folder: Path) -> bool:
    """Whether neither a process nor a server holds the folder; raises when a server without an owner does."""
    lock = FolderLock.try_own(folder)
    if lock is None:
        return False
    lock.take_server(ProgressBound(0, None, time.monotonic))
    lock.release()
    return True


def damage(path: Path, offset: int) -> None:
    content = bytearray(path.read_bytes())
    content[offset : offset + 20] = b"\0" * 20
    path.write_bytes(content)


def test_a_tail_cut_anywhere_comes_back_as_a_prefix_of_whole_scripts_and_says_what_was_lost(folder: Folder) -> None:
    size = folder.tail.stat().st_size
    scripted = size - 5000
    for cut in Random(20261122).sample(range(scripted, size), 8):
        torn = folder.copy(f"cut-{cut}")
        os.truncate(torn.tail, cut)
        firsts, seconds, recovery = torn.contents()
        kept = re.search(r"AOF truncated at byte (\d+), (\d+) bytes lost", str(recovery))
        assert firsts == seconds < SCRIPTS
        assert kept is None or int(kept[1]) + int(kept[2]) == cut
        assert kept is not None or torn.tail.read_bytes() == folder.tail.read_bytes()[:cut]
        assert torn.contents() == (firsts, seconds, None)


def test_a_torn_tail_comes_back_in_a_folder_whose_path_is_too_long_for_a_socket_too(folder: Folder) -> None:
    """Recovery starts more than one server, and the socket's run-time folder goes with each."""
    torn = folder.copy("long-" * 30)
    os.truncate(torn.tail, torn.tail.stat().st_size - 5)
    firsts, seconds, recovery = torn.contents()
    assert (firsts == seconds == SCRIPTS - 1, recovery is not None) == (True, True)
    assert torn.contents() == (firsts, seconds, None)


@pytest.mark.parametrize("inside", range(5, 60, 11))
def test_what_is_written_after_a_recovery_is_there_at_the_next_opening_too(folder: Folder, inside: int) -> None:
    os.truncate(folder.tail, folder.tail.stat().st_size - inside)
    with open_folder(folder.path, "command", binary=folder.binary) as opened, connect(opened.socket_path) as client:
        client.set("plain", "acknowledged")
        client.eval(TWO_WRITES, 2, f"first:{SCRIPTS - 1}", "seconds", SCRIPTS - 1)
        client.set("plain too", "acknowledged")
    with open_folder(folder.path, "command", binary=folder.binary) as opened, connect(opened.socket_path) as client:
        assert client.mget("plain", "plain too") == ["acknowledged", "acknowledged"]
    assert folder.contents() == (SCRIPTS, SCRIPTS, None)


def test_a_whole_tail_tells_of_no_recovery(folder: Folder) -> None:
    assert folder.contents() == (SCRIPTS, SCRIPTS, None)


def test_damage_before_the_tail_is_refused_with_the_file_and_a_cure_that_works(folder: Folder) -> None:
    damage(folder.tail, folder.tail.stat().st_size - 2000)
    before = folder.tail.read_bytes()
    with pytest.raises(EmbeddedRedisError) as refused:
        folder.contents()
    assert f"refuses to load {folder.tail}: it is damaged before its end" in str(refused.value)
    assert "Bad file format" in str(refused.value)
    assert folder.tail.read_bytes() == before
    cure = re.search(r"run `(.+)`: it drops", str(refused.value))
    assert cure is not None
    assert "redis-check-aof" in cure[1]
    subprocess.run(cure[1], shell=True, input="y\n", text=True, capture_output=True, check=True, timeout=PATIENCE)
    firsts, seconds, _ = folder.contents()
    assert 0 < firsts == seconds < SCRIPTS


def test_a_damaged_snapshot_is_refused_with_its_name_and_left_as_it_is(folder: Folder) -> None:
    os.truncate(folder.base, 200)
    for _ in range(2):
        with pytest.raises(EmbeddedRedisError) as refused:
            folder.contents()
        assert f"refuses to load {folder.base}: its snapshot is damaged; restore it" in str(refused.value)
        assert folder.base.stat().st_size == 200
        assert free(folder.path)


def test_a_tail_cut_before_the_store_itself_is_refused_as_another_store(tmp_path: Path) -> None:
    folder = filled(tmp_path / "whole", server("valkey"))
    os.truncate(folder.tail, 10)
    with pytest.raises(StoreMismatch, match=r"should hold store s1, but its Redis came back with no store \(.*lost"):
        folder.contents()
    assert free(folder.path)


@pytest.mark.parametrize("name", ["valkey", "redis-7"])
def test_a_torn_folder_of_redis_6_is_taken_over_as_a_prefix(tmp_path: Path, name: str) -> None:
    folder = of_redis_6(filled(tmp_path / "whole", server(name)))
    file = folder.path / "appendonly.aof"
    os.truncate(file, file.stat().st_size - 30)
    firsts, seconds, recovery = folder.contents()
    assert firsts == seconds == SCRIPTS - 1
    assert "bytes lost" in str(recovery)
    assert folder.contents() == (SCRIPTS - 1, SCRIPTS - 1, None)


def taken_over(tmp_path: Path) -> Folder:
    """A folder of Redis 6.2 that was taken over and written to: its base is a plain log, which a server would cut."""
    folder = of_redis_6(filled(tmp_path / "whole", server("valkey")))
    with open_folder(folder.path, "command", binary=folder.binary) as opened, connect(opened.socket_path) as client:
        client.eval(TWO_WRITES, 2, f"first:{SCRIPTS}", "seconds", SCRIPTS)
        client.eval(TWO_WRITES, 2, f"first:{SCRIPTS + 1}", "seconds", SCRIPTS + 1)
    return folder


def test_a_base_that_breaks_off_before_later_files_is_refused_every_time_and_never_cut(tmp_path: Path) -> None:
    folder = taken_over(tmp_path)
    base = folder.path / "appendonlydir" / "appendonly.aof"
    os.truncate(base, base.stat().st_size - 30)
    before = base.read_bytes()
    for _ in range(2):
        with pytest.raises(EmbeddedRedisError) as refused:
            folder.contents()
        assert f"refuses to load {base}: it breaks off, and other files come after it" in str(refused.value)
        assert base.read_bytes() == before


def test_a_torn_tail_behind_a_plain_base_still_comes_back_as_a_prefix(tmp_path: Path) -> None:
    folder = taken_over(tmp_path)
    os.truncate(folder.tail, folder.tail.stat().st_size - 30)
    firsts, seconds, recovery = folder.contents()
    assert firsts == seconds == SCRIPTS + 1
    assert f"{folder.tail.name} ended in an unfinished write" in str(recovery)


def test_a_missing_manifest_is_refused_before_a_server_could_overwrite_the_files_it_named(tmp_path: Path) -> None:
    folder = filled(tmp_path / "whole", server("valkey"))
    (folder.path / "appendonlydir" / "appendonly.aof.manifest").unlink()
    (folder.path / "store.json").unlink()
    before = folder.tail.read_bytes()
    with pytest.raises(StoreMismatch, match="a server started without it would overwrite them"):
        folder.contents()
    assert folder.tail.read_bytes() == before


def test_a_first_start_killed_before_its_manifest_is_no_obstacle(tmp_path: Path) -> None:
    folder = filled(tmp_path / "whole", server("valkey"))
    fresh = tmp_path / "fresh"
    (fresh / "appendonlydir").mkdir(parents=True)
    shutil.copy(folder.base, fresh / "appendonlydir")
    (fresh / "appendonlydir" / "appendonly.aof.1.incr.aof").touch()
    assert Folder(fresh, folder.binary).contents() == (0, 0, None)


def test_a_file_that_the_manifest_names_and_nobody_finds_is_refused_with_its_name(tmp_path: Path) -> None:
    folder = filled(tmp_path / "whole", server("valkey"))
    missing = folder.tail
    missing.unlink()
    with pytest.raises(EmbeddedRedisError, match=f"{missing.name}: the manifest names it and it is missing"):
        folder.contents()
    assert not missing.exists()


def test_a_server_that_cannot_even_start_shows_its_own_words(tmp_path: Path) -> None:
    script = tmp_path / "redis-server"
    script.write_text("#!/bin/sh\necho 'bad luck today' >&2\nexit 3\n")
    script.chmod(0o755)
    with pytest.raises(EmbeddedRedisError, match=r"did not start on .*\n  bad luck today"):
        open_folder(tmp_path / "data", "command", binary=RedisBinary(script, Release("Redis", "7.0.0")))
    assert free(tmp_path / "data")
