"""A port that is taken is noticed before anything is started, with who has it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.http.server.port_holder import UNKNOWN, holder_of
from api.http.server.serve import claim, listening
from events.errors import BadSetting
from tests.integration.ops.test_up import running
from tests.patience import PATIENCE


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that this process listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def up(folder: Path, port: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "ops.main", "up", "--port", str(port), "--json"],
        env={**os.environ, "ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_REDIS_URL": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_taken_port_is_refused_before_anything_is_started(tmp_path: Path, taken: int) -> None:
    done = up(tmp_path / "store", taken)
    assert (done.returncode, f"ENGRAMLOG_PORT: got {taken}" in done.stderr) == (2, True)
    assert f"(pid {os.getpid()}) listens on it" in done.stderr
    assert not (tmp_path / "store").exists()
    assert '"redis ready"' not in done.stderr


def test_another_up_on_the_port_is_told_with_its_folder(tmp_path: Path) -> None:
    with running(tmp_path / "first") as first:
        port = int(first.ready().rpartition(":")[2])
        done = up(tmp_path / "second", port)
        assert done.returncode == 2
        assert f"`engramlog up` of {tmp_path / 'first'} (pid {first.process.pid}) listens on it" in done.stderr
        assert not (tmp_path / "second").exists()


def test_where_nothing_can_be_seen_it_is_another_process(tmp_path: Path, taken: int) -> None:
    assert holder_of(taken, tmp_path / "no-proc") == UNKNOWN
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text("header\nbroken\n")
    assert holder_of(taken, tmp_path) == UNKNOWN


def test_a_program_s_name_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(f"header\n0: 0100007F:{8733:04X} 0:0 0A 0:0 0:0 0 0 0 4711 1\n")
    (tmp_path / "42" / "fd").mkdir(parents=True)
    (tmp_path / "42" / "fd" / "3").symlink_to("socket:[4711]")
    (tmp_path / "42" / "cmdline").write_bytes(b"/bin/\x1b[2J" + b"x" * 200 + b"\0--secret\0")
    told = holder_of(8733, tmp_path)
    assert told.isprintable()
    assert told.endswith("… (pid 42)")
    assert len(told) < 60
    (tmp_path / "42" / "cmdline").write_bytes(b"python\0-m\0ops.main\0up\0--json\0")
    (tmp_path / "42" / "environ").write_bytes(b"A=1\0ENGRAMLOG_REDIS_URL=redis://:s3cret-MARK@host\0")
    assert holder_of(8733, tmp_path) == "`engramlog up` of redis://***@host (pid 42)"


def test_a_claimed_port_lets_nobody_in_before_it_serves(tmp_path: Path) -> None:
    claimed = claim("127.0.0.1", 0)
    port = claimed.getsockname()[1]
    with socket.socket() as caller, pytest.raises(ConnectionRefusedError):
        caller.connect(("127.0.0.1", port))
    listener = listening("127.0.0.1", port, claimed=claimed)
    with socket.create_connection(("127.0.0.1", port)):
        pass
    with pytest.raises(BadSetting, match="--port"):
        claim("127.0.0.1", port, "--port")
    listener.close()
