"""`Memory()` on a machine with the application: what is needed is started once, by nobody else's hand, and ends by itself."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from engramlog import Memory, Unreachable, home
from engramlog.home import is_private
from engramlog_server.ops.settings import load_settings
from tests.given.client import EAGER, KINDS, connected
from tests.integration.live import wait_until
from tests.integration.ops.test_up import running
from tests.patience import PATIENCE

ENGRAMLOG = f"""#!{sys.executable} -P
import sys
from engramlog_server.ops.main import main
sys.exit(main())
"""


class Machine:
    """A user's machine: where the application is installed, its data folder, and every process that a client started."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.folder = root / "data"
        self.started: list[subprocess.Popen[bytes]] = []

    def install(self, program: str = ENGRAMLOG, place: Path | None = None) -> Path:
        """Put an `engramlog` command into a folder, that of this Python unless told otherwise."""
        place = place or self.bin
        place.mkdir(mode=0o755, exist_ok=True)
        command = place / "engramlog"
        command.write_text(program)
        command.chmod(0o755)
        return command

    def facts(self, name: str) -> list[dict[str, Any]]:
        """What the service that was started last told of this name."""
        lines = (self.folder / home.LOG).read_text().splitlines()
        return [
            one for one in map(json.loads, filter(lambda line: line.startswith("{"), lines)) if one["event"] == name
        ]

    def ended(self) -> None:
        """Wait until what was started has ended by itself."""
        for process in self.started:
            process.wait(PATIENCE)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Nothing is told by the environment but the data folder; what is started ends with the test."""
    made = Machine(tmp_path)
    made.bin.mkdir()
    python = made.bin / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    for name in ("ENGRAMLOG_TOKEN", "ENGRAMLOG_URL", "ENGRAMLOG_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(made.folder))
    monkeypatch.setenv("ENGRAMLOG_JOB_WORKERS", "0")
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setattr(sys, "executable", str(python))
    start = home._process

    def recorded(*told: Any) -> subprocess.Popen[bytes]:
        made.started.append(start(*told))
        return made.started[-1]

    monkeypatch.setattr(home, "_process", recorded)
    yield made
    for process in made.started:
        process.terminate()
    made.ended()


@contextmanager
def at_home(kind: str, **options: Any) -> Iterator[Any]:
    """A client that is told no address."""
    with connected(kind, None, owner="alice", **options) as memory:  # type: ignore[arg-type]
        yield memory


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_needed_is_started_and_remembers(kind: str, machine: Machine) -> None:
    machine.install()
    with at_home(kind) as memory:
        added = memory.add("I drink coffee")
        assert [one.id for one in memory.search("coffee").results] == [added.id]
    (process,) = machine.started
    assert process.poll() is None, "it is there for the next program"
    assert (machine.facts("service started")[0]["docs"], stat.S_IMODE(machine.folder.stat().st_mode)) == (None, 0o700)


def test_a_line_on_stderr_says_that_the_service_is_started(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.install()
    with Memory(owner="alice", timeout=PATIENCE) as memory:
        memory.add("I drink coffee")
        memory.add("I live in Utrecht")
    line = f"engramlog: starting the service in {machine.folder} (first start takes a few seconds)"
    assert capsys.readouterr().err.splitlines() == [line]


def test_many_clients_at_once_share_one(machine: Machine) -> None:
    machine.install()
    together, kept = Barrier(6), list[str]()

    def remember(number: int) -> None:
        with Memory(owner="alice", timeout=PATIENCE) as memory:
            together.wait(PATIENCE)
            kept.append(str(memory.add(f"Cup number {number} is blue").id))

    threads = [Thread(target=remember, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    with Memory(owner="alice") as memory:
        assert {one.id for one in memory.get_all().memories} == set(kept)
    assert (len(kept), len(machine.started)) == (6, 1)


def test_unasked_it_ends_and_leaves_nothing_behind_and_the_next_call_starts_it_anew(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.install()
    monkeypatch.setattr(home, "IDLE_SECONDS", 1)
    with Memory(owner="alice", timeout=PATIENCE) as memory:
        added = memory.add("I drink coffee")
        machine.ended()
        assert machine.started[0].returncode == 0
        assert machine.facts("service left")[0]["why"] == "nobody has asked for 1 s"
        assert not (machine.folder / home.SOCKET).exists()
        monkeypatch.setattr(home, "IDLE_SECONDS", 600)
        assert [one.id for one in memory.search("coffee").results] == [added.id]
    assert len(machine.started) == 2


def test_it_makes_way_for_an_up_which_clients_find_whatever_its_port(machine: Machine) -> None:
    machine.install()
    with Memory(owner="alice", timeout=PATIENCE) as memory:
        added = memory.add("I drink coffee")
        with running(machine.folder) as up:
            up.ready()
            machine.ended()
            assert machine.facts("service left")[0]["why"] == "an `engramlog up` wants the store"
            with Memory(owner="alice", timeout=PATIENCE, start=False) as other:
                assert [one.id for one in other.search("coffee").results] == [added.id]
            assert memory.get(added.id or "").content == "I drink coffee"
            assert len(machine.started) == 1


def test_a_program_that_is_killed_leaves_the_service_to_others(machine: Machine) -> None:
    machine.install()
    with Memory(owner="alice", timeout=PATIENCE) as memory:
        memory.add("I drink coffee")
    (process,) = machine.started
    assert os.getsid(process.pid) == process.pid, "a session of its own: no Ctrl-C of a terminal reaches it"
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0


def test_nothing_is_started_that_nobody_wants(machine: Machine) -> None:
    machine.install()
    with at_home("sync", start=False) as memory, pytest.raises(Unreachable, match=r"start=False.*engramlog up"):
        memory.get_all()
    assert (machine.started, machine.folder.exists()) == ([], False)


def test_what_cannot_be_started_says_so_with_its_last_words(machine: Machine) -> None:
    machine.install("#!/bin/sh\necho '{\"event\": \"a log line\"}' >&2\necho 'the disk is full' >&2\nexit 3\n")
    with at_home("sync") as memory, pytest.raises(Unreachable) as failure:
        memory.get_all()
    assert "could not be started: the disk is full (" in failure.value.message
    assert len(machine.started) == 1, "it is not tried again and again"


def test_a_bad_setting_is_told_in_the_words_of_the_service(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.install()
    monkeypatch.setenv("ENGRAMLOG_WORKERS", "many")
    with Memory(owner="alice") as memory, pytest.raises(Unreachable, match="ENGRAMLOG_WORKERS: got 'many'; allowed"):
        memory.get_all()


def test_what_does_not_get_ready_is_ended(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.install("#!/bin/sh\necho 'still thinking' >&2\nexec sleep 600\n")
    monkeypatch.setattr(home, "START_SECONDS", 1.0)
    with Memory(owner="alice") as memory, pytest.raises(Unreachable, match="was not ready after 1 s and was ended"):
        memory.get_all()
    assert machine.started[0].wait(PATIENCE) == -signal.SIGTERM


RAN = "#!/bin/sh\ntouch {place}/ran\nexit 3\n"


def in_the_current_folder(machine: Machine, monkeypatch: pytest.MonkeyPatch, entry: str) -> Path:
    place = machine.root / "here"
    machine.install(RAN.format(place=place), place)
    monkeypatch.chdir(place)
    monkeypatch.setenv("PATH", entry)
    return place


def changeable(machine: Machine, monkeypatch: pytest.MonkeyPatch, which: str) -> Path:
    place = machine.root / "there"
    command = machine.install(RAN.format(place=place), place)
    monkeypatch.setenv("PATH", str(place))
    {"file": command, "folder": place}[which].chmod(0o777)
    return place


HOSTILE: dict[str, Callable[[Machine, pytest.MonkeyPatch], Path]] = {
    "a dot": lambda machine, patch: in_the_current_folder(machine, patch, "."),
    "an empty entry": lambda machine, patch: in_the_current_folder(machine, patch, ":"),
    "a relative folder": lambda machine, patch: in_the_current_folder(machine, patch, "../here"),
    "a file for all to write": lambda machine, patch: changeable(machine, patch, "file"),
    "a folder for all to write": lambda machine, patch: changeable(machine, patch, "folder"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_command_is_run_that_others_could_have_put_there(
    what: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = HOSTILE[what](machine, monkeypatch)
    with Memory(owner="alice") as memory, pytest.raises(Unreachable, match="there is no `engramlog` command"):
        memory.get_all()
    assert (machine.started, (place / "ran").exists()) == ([], False)


@contextmanager
def listening(address: str | tuple[str, int], family: int) -> Iterator[socket.socket]:
    """Somebody who listens, and would hear a token."""
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen()
        listener.setblocking(False)
        yield listener


def test_a_folder_to_which_others_can_write_is_not_trusted(machine: Machine) -> None:
    machine.install()
    machine.folder.mkdir()
    machine.folder.chmod(0o777)
    with (
        listening(str(machine.folder / home.SOCKET), socket.AF_UNIX) as listener,
        Memory(owner="alice", retry=EAGER) as memory,
    ):
        with pytest.raises(Unreachable, match=r"others could write to .* look through it, .*chmod 700"):
            memory.get_all()
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert machine.started == []


def test_an_empty_folder_to_which_others_could_write_is_closed_to_them_and_used(machine: Machine) -> None:
    machine.install()
    machine.folder.mkdir()
    machine.folder.chmod(0o777)
    with Memory(owner="alice", retry=EAGER) as memory:
        assert memory.get_all().total == 0
    assert (machine.folder.stat().st_mode & 0o7777, len(machine.started)) == (0o700, 1)


def test_whoever_listens_on_the_port_is_not_asked_unless_he_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(("127.0.0.1", 0), socket.AF_INET) as listener:
        monkeypatch.setattr("engramlog.client.URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
        with Memory(owner="alice") as memory, pytest.raises(Unreachable, match='Memory\\("http'):
            memory.get_all()
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert machine.started == []


def test_an_address_in_the_environment_is_asked_and_nothing_started(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.install()
    monkeypatch.setenv("ENGRAMLOG_URL", "http://127.0.0.1:1")
    with Memory(owner="alice", retry=EAGER) as memory, pytest.raises(Unreachable, match="4 tries"):
        memory.get_all()
    assert (machine.started, load_settings().data) == ([], machine.folder)


def test_a_folder_of_a_long_name_serves_too(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.install()
    machine.folder = machine.root / ("a-long-name-" * 12)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(machine.folder))
    with Memory(owner="alice", timeout=PATIENCE) as memory:
        memory.add("I drink coffee")
        assert memory.get_all().total == 1
    assert len(machine.started) == 1


def test_a_socket_that_was_removed_ends_the_service_which_is_started_anew(machine: Machine) -> None:
    machine.install()
    with Memory(owner="alice", timeout=PATIENCE) as memory:
        memory.add("I drink coffee")
    (machine.folder / home.SOCKET).unlink()
    with Memory(owner="alice", timeout=PATIENCE) as memory:
        assert memory.get_all().total == 1
    assert machine.started[0].wait(PATIENCE) == 0
    assert is_private(machine.folder)
    wait_until(lambda: machine.facts("service started"))


def test_an_up_whose_socket_was_removed_is_joined_by_a_service_that_can_be_found(machine: Machine) -> None:
    machine.install()
    with running(machine.folder) as up:
        up.ready()
        with Memory(owner="alice", timeout=PATIENCE) as memory:
            memory.add("I drink coffee")
            assert machine.started == []
        (machine.folder / home.SOCKET).unlink()
        with Memory(owner="alice", timeout=PATIENCE) as memory:
            assert memory.get_all().total == 1
        assert machine.started[-1].poll() is None


def test_where_there_are_no_unix_sockets_it_imports_and_asks_the_address_as_before(machine: Machine) -> None:
    program = """
import os, sys
sys.modules["fcntl"] = None
import engramlog
os.name = "nt"
from engramlog.home import home_of
assert home_of(None, None) is None
try:
    engramlog.Memory(owner="alice", retry=engramlog.Retry(tries=1), token="x" * 40).get_all()
except engramlog.Unreachable as problem:
    print(problem.message)
"""
    port = "import engramlog.client; engramlog.client.URL = 'http://127.0.0.1:1'"
    program = program.replace("os.name =", f"{port}; os.name =")
    ran = subprocess.run([str(machine.bin / "python"), "-P", "-c", program], capture_output=True, text=True, check=True)
    assert "no answer in 1 tries" in ran.stdout
    assert machine.started == []
