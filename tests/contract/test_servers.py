"""The tests' own servers: none outlives its test run, and a missing one is told, never passed over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.servers import MISSING, NO_REDIS_8, newer_server, newest_server, version_of, wheel_server

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


def test_the_wheels_server_is_6_2_and_never_taken_for_a_newer_one(tmp_path: Path) -> None:
    assert version_of(wheel_server()) == (6, 2)
    assert newer_server(str(wheel_server().parent)) is None
    assert newer_server(str(tmp_path)) is None


def test_the_server_for_tests_alone_is_8() -> None:
    found = newest_server()
    if found is None:
        pytest.skip(NO_REDIS_8)
    assert version_of(found) == (8, 2)


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


def test_without_a_newer_server_the_run_names_what_did_not_run(tmp_path: Path) -> None:
    target = "tests/contract/test_redis_log.py"
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", target, "-q", "-p", "no:cacheprovider", "-k", "the_clock"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=ROOT,
        env=os.environ | {"PATH": str(tmp_path), "PYTEST_ADDOPTS": ""},
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert f"{MISSING}: 1 tests did not run: {target} (1)" in ran.stdout
    others = 1 + (newest_server() is not None)
    assert f"{others} passed, {3 - others} skipped" in ran.stdout
