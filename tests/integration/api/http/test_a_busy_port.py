"""A port that is taken is noticed before anything is started."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog_server.api.http.serve import claim, listening
from engramlog_server.events.errors import BadSetting
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
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", "up", "--port", str(port), "--json"],
        env={**os.environ, "ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_REDIS_URL": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_a_taken_port_is_refused_before_anything_is_started(tmp_path: Path, taken: int) -> None:
    done = up(tmp_path / "store", taken)
    assert (done.returncode, f"ENGRAMLOG_PORT: got {taken}" in done.stderr) == (2, True)
    assert "Address already in use" in done.stderr
    assert not (tmp_path / "store").exists()
    assert '"redis started"' not in done.stderr


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
