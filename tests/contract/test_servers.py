"""The tests' own servers: none outlives its test run, and a missing one is told, never passed over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import sys
from tests.servers import RedisServer, wheel_server
server = RedisServer(wheel_server())
print(server.process.pid, server._folder, flush=True)
sys.stdin.readline()
"""


def is_running(pid: int) -> bool:
    """Whether a process lives; one that is dead and not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_server_dies_with_the_test_process_even_when_that_is_killed() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-P", "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as holder:
        assert holder.stdout is not None
        pid, _, folder = holder.stdout.readline().strip().partition(" ")
        assert is_running(int(pid))
        holder.send_signal(signal.SIGKILL)
    until = time.monotonic() + PATIENCE
    while is_running(int(pid)):
        assert time.monotonic() < until
        time.sleep(0.02)
    for path in Path(folder).iterdir():
        path.unlink()
    Path(folder).rmdir()
