"""Real servers and real processes: one server a folder, none left behind, and nothing acknowledged is ever lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis

from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.events.redis.server import release_of
from engramlog_server.ops.embedded.folder import read_server_file
from engramlog_server.ops.embedded.lock import FolderLock, is_used
from engramlog_server.ops.embedded.process import connect, listens
from engramlog_server.ops.embedded.server import EmbeddedRedis, open_folder
from tests.patience import PATIENCE, UntilTold
from tests.places import ROOT

HOLDER = """
import sys
from pathlib import Path
from engramlog_server.ops.embedded.server import open_folder
from engramlog_server.ops.embedded.process import ServerPlan
from engramlog_server.ops.embedded.process import connect

folder, role, tied = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "tied"
if not tied:
    command = ServerPlan.command
    ServerPlan.command = lambda plan: command(plan)[5:]
with open_folder(folder, role, on_wait=lambda text: print("wait", text, flush=True)) as opened:
    with connect(opened.socket_path) as client:
        client.hset("engramlog:store", "store_id", "s1")
        client.set(f"by:{role}", "acknowledged")
    opened.record_store("s1", 1, ["t"])
    print("open", opened.pid, flush=True)
    sys.stdin.readline()
"""

OPENER = """
import sys
from pathlib import Path
from engramlog_server.ops.embedded.server import open_folder
from engramlog_server.ops.embedded.process import connect

with open_folder(Path(sys.argv[1]), "command") as opened, connect(opened.socket_path) as client:
    assert client.set("inside", sys.argv[2], nx=True), f"{sys.argv[2]} met {client.get('inside')}"
    client.set(f"opener:{sys.argv[2]}", opened.pid)
    client.incr("openers")
    client.delete("inside")
    print(opened.pid, flush=True)
"""


class Child:
    """A process of its own that runs one of the scripts above."""

    def __init__(self, script: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", script, *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        told = self.process.stdout.readline()
        return told.strip() or self.process.communicate(timeout=PATIENCE)[1]

    def opened(self) -> str:
        """The line in which it says that it has opened, after all that it waited for."""
        while (told := self.line()).startswith("wait "):
            pass
        return told

    def finish(self) -> None:
        out, err = self.process.communicate("\n", timeout=PATIENCE)
        assert self.process.returncode == 0, out + err

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE)


@pytest.fixture
def children() -> Iterator[Callable[..., Child]]:
    started: list[Child] = []

    def start(script: str, *arguments: str) -> Child:
        started.append(Child(script, *arguments))
        return started[-1]

    yield start
    for child in started:
        child.kill()


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def set_key(opened: EmbeddedRedis, key: str) -> None:
    with connect(opened.socket_path) as client:
        client.set(key, "acknowledged")


def keys_of(folder: Path) -> set[str]:
    with open_folder(folder, "command") as opened, connect(opened.socket_path) as client:
        return set(client.keys())


def test_what_was_written_is_there_after_closing_and_opening_again(tmp_path: Path) -> None:
    with open_folder(tmp_path / "new" / "folder", "up") as opened:
        set_key(opened, "a")
        assert opened.owned
        assert opened.died() is None
    assert not listens(opened.socket_path)
    assert read_server_file(opened.folder) is None
    assert keys_of(opened.folder) == {"a"}


def test_a_new_server_is_private_durable_and_bounded(tmp_path: Path) -> None:
    expected = {
        "appendonly": "yes",
        "appendfsync": "always",
        "no-appendfsync-on-rewrite": "no",
        "aof-use-rdb-preamble": "yes",
        "save": "",
        "port": "0",
        "unixsocketperm": "700",
        "hash-max-listpack-entries": "512",
        "maxmemory": "50000000",
        "maxmemory-policy": "noeviction",
    }
    with open_folder(tmp_path, "command", maxmemory=50_000_000) as opened, connect(opened.socket_path) as client:
        assert {name: client.config_get(name)[name] for name in expected} == expected
        assert opened.socket_path.stat().st_mode & 0o077 == 0
        assert release_of(client.info("server")) == opened.release


def test_the_server_has_its_own_session_so_that_ctrl_c_is_ours(tmp_path: Path) -> None:
    with open_folder(tmp_path, "command") as opened:
        assert os.getsid(opened.pid) == opened.pid


def test_the_server_outlives_the_thread_that_opened_it(tmp_path: Path) -> None:
    found: list[EmbeddedRedis] = []
    thread = threading.Thread(target=lambda: found.append(open_folder(tmp_path, "command")))
    thread.start()
    thread.join()
    with found[0] as opened:
        set_key(opened, "a")
        assert opened.died() is None
        assert opened.process is not None
        assert opened.process.poll() is None


def test_twenty_openers_at_once_take_turns_and_lose_nothing(tmp_path: Path, children: Callable[..., Child]) -> None:
    openers = [children(OPENER, str(tmp_path), str(number)) for number in range(20)]
    pids = [opener.line() for opener in openers]
    for opener in openers:
        opener.finish()
    with open_folder(tmp_path, "command") as opened, connect(opened.socket_path) as client:
        assert client.get("openers") == "20"
        assert [client.get(f"opener:{number}") for number in range(20)] == pids
        assert len(set(pids)) == 20


def test_an_up_waits_for_a_running_command_and_says_so(tmp_path: Path, children: Callable[..., Child]) -> None:
    command = children(HOLDER, str(tmp_path), "command", "tied")
    assert command.opened().startswith("open")
    up = children(HOLDER, str(tmp_path), "up", "tied")
    assert up.line() == f"wait waiting for a command (pid {command.process.pid}) to finish with {tmp_path}"
    command.finish()
    assert up.opened().startswith("open")
    with open_folder(tmp_path, "command") as joined, connect(joined.socket_path) as client:
        assert set(client.keys("by:*")) == {"by:command", "by:up"}


def test_a_command_uses_the_server_of_a_running_up_and_leaves_it_running(tmp_path: Path) -> None:
    with open_folder(tmp_path, "up") as up:
        with connect(up.socket_path) as client:
            client.hset("engramlog:store", "store_id", "s1")
        up.record_store("s1", 1, ["t"])
        with open_folder(tmp_path, "command") as joined:
            assert not joined.owned
            assert (joined.pid, joined.socket_path, joined.release) == (up.pid, up.socket_path, up.release)
            set_key(joined, "a")
        assert up.died() is None
        with open_folder(tmp_path, "command") as joined:
            up.close()
            assert f"redis-server (pid {up.pid})" in str(joined.died())
    assert "a" in keys_of(tmp_path)


def test_a_command_waits_until_the_up_of_a_new_folder_has_made_its_store(tmp_path: Path) -> None:
    with open_folder(tmp_path, "up") as up, connect(up.socket_path) as client:
        patience = UntilTold()
        with pytest.raises(EmbeddedRedisError, match="did not get ready"):
            open_folder(tmp_path, "command", on_wait=patience.hear, now=patience.now)
        assert patience.told == [f"waiting for `engramlog up` (pid {os.getpid()}) on {tmp_path} to be ready"]
        client.hset("engramlog:store", "store_id", "s1")
        up.record_store("s1", 1, ["t"])
        with open_folder(tmp_path, "command") as joined:
            assert joined.pid == up.pid


def test_a_second_up_is_told_which_process_runs_the_first(tmp_path: Path) -> None:
    with open_folder(tmp_path, "up"), pytest.raises(EmbeddedRedisError) as refused:
        open_folder(tmp_path, "up")
    assert f"`engramlog up` (pid {os.getpid()}) already runs on {tmp_path}" in str(refused.value)


def test_waiting_for_a_command_ends_when_patience_does(tmp_path: Path) -> None:
    patience = UntilTold()
    with open_folder(tmp_path, "command"), pytest.raises(EmbeddedRedisError, match=rf"command \(pid {os.getpid()}\)"):
        open_folder(tmp_path, "command", on_wait=patience.hear, now=patience.now)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a process to its parent")
@pytest.mark.parametrize("role", ["command", "up"])
def test_killing_the_owner_ends_its_server_and_keeps_the_data(
    tmp_path: Path, role: str, children: Callable[..., Child]
) -> None:
    owner = children(HOLDER, str(tmp_path), role, "tied")
    assert owner.opened().startswith("open")
    running = read_server_file(tmp_path)
    assert running is not None
    owner.kill()
    assert eventually(lambda: not listens(Path(running.socket)))
    assert f"by:{role}" in keys_of(tmp_path)


def test_an_orphaned_server_is_ended_by_the_next_opener(tmp_path: Path, children: Callable[..., Child]) -> None:
    owner = children(HOLDER, str(tmp_path), "up", "untied")
    orphan = int(owner.opened().split()[1])
    owner.kill()
    told: list[str] = []
    try:
        os.kill(orphan, 0)
        with open_folder(tmp_path, "command", on_wait=told.append) as opened, connect(opened.socket_path) as client:
            assert opened.owned
            assert opened.pid != orphan
            assert client.get("by:up") == "acknowledged"
    finally:
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)
    assert told[0] == f"an orphaned redis-server (pid {orphan}) is using {tmp_path}; waiting for it to exit"


def test_a_killed_server_is_reported_with_its_log_and_everything_acknowledged_comes_back(tmp_path: Path) -> None:
    acknowledged = 0
    with open_folder(tmp_path, "up") as opened, connect(opened.socket_path) as client:
        killer = threading.Timer(0.2, os.kill, (opened.pid, signal.SIGKILL))
        killer.start()
        with suppress(redis.RedisError):
            while True:
                acknowledged = client.incr("count")
        assert eventually(lambda: opened.died() is not None)
        died = str(opened.died())
        assert f"redis-server (pid {opened.pid}) of {tmp_path} ended by signal 9" in died
        assert "Ready to accept connections" in died
    with open_folder(tmp_path, "up") as opened, connect(opened.socket_path) as client:
        assert acknowledged > 0
        assert int(client.get("count")) in {acknowledged, acknowledged + 1}


def test_a_server_that_does_not_listen_to_shutdown_is_killed(tmp_path: Path) -> None:
    opened = open_folder(tmp_path, "command")

    def loop_forever() -> None:
        with connect(opened.socket_path) as client, pytest.raises(redis.RedisError):
            client.eval("redis.call('SET', 'half', 1) while true do end", 0)

    set_key(opened, "a")
    busy = threading.Thread(target=loop_forever)
    busy.start()
    with connect(opened.socket_path, timeout=1.0) as client:
        assert eventually(lambda: not _pings(client))
    opened.close(timeout=0.2)
    busy.join()
    assert opened.process is not None
    assert opened.process.poll() == -signal.SIGKILL
    assert keys_of(tmp_path) == {"a"}


def _pings(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def test_loading_is_waited_for_as_long_as_it_gets_on_and_its_progress_is_told(tmp_path: Path) -> None:
    entries = (f"*3\r\n$3\r\nSET\r\n$7\r\nk{number:06}\r\n$1\r\nv\r\n" for number in range(300_000))
    (tmp_path / "appendonly.aof").write_text("*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n" + "".join(entries), newline="")
    told: list[str] = []
    with open_folder(tmp_path, "command", on_wait=told.append) as opened, connect(opened.socket_path) as client:
        assert client.dbsize() == 300_000
    percents = [int(text.split("(")[1].split(" %")[0]) for text in told if text.startswith("loading ")]
    assert len(percents) == len(told) > 0
    assert percents == sorted(set(percents))


def test_scratch_files_of_a_killed_rewrite_are_removed(tmp_path: Path) -> None:
    scratch = tmp_path / "temp-rewriteaof-bg-77.aof"
    scratch.write_bytes(b"half a snapshot")
    with open_folder(tmp_path, "command"):
        assert not scratch.exists()


def test_a_command_keeps_the_server_that_it_joined_as_long_as_it_uses_it(tmp_path: Path) -> None:
    with open_folder(tmp_path, "shared") as shared:
        with connect(shared.socket_path) as client:
            client.hset("engramlog:store", "store_id", "s1")
        shared.record_store("s1", 1, ["t"])
        assert not is_used(tmp_path)
        with open_folder(tmp_path, "command"), open_folder(tmp_path, "shared"):
            assert is_used(tmp_path)
        assert not is_used(tmp_path)


def test_who_waits_for_a_folder_is_told_the_process_that_has_it(tmp_path: Path) -> None:
    lock, told = FolderLock.try_own(tmp_path), list[str]()
    assert lock is not None
    with pytest.raises(EmbeddedRedisError, match=rf"stays locked by another process \(pid {os.getpid()}\)"):
        open_folder(tmp_path, "command", wait_seconds=0.05, on_wait=told.append)
    assert told == [f"another process (pid {os.getpid()}) is using {tmp_path}; waiting for it to exit"]
    lock.release()
