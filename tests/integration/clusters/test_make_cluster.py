"""`make cluster`: it says how it is reached, and nothing is left of it, however it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import redis

from tests.chaos.cast import LAUNCHER, ROOT, wait_until
from tests.contract.test_servers import is_running
from tests.servers import wheel_server

COMMAND = [sys.executable, "-P", "-m", "tests.given.clusters", "--redis-server", str(wheel_server())]
PARENT = "import subprocess, sys; subprocess.run(sys.argv[1:])"


class Started(NamedTuple):
    """The command, and what it told."""

    process: subprocess.Popen[str]
    pids: list[int]
    """Of its redis-servers."""
    ports: list[int]
    folder: Path


def started(command: list[str]) -> Started:
    """Start it, and wait until it says how to stop it."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), *command],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True, process_group=0,
    )  # fmt: skip
    assert process.stdout is not None
    told = ""
    while "stop  Ctrl-C" not in told:
        line = process.stdout.readline()
        assert line, f"it ended: {told}"
        told += line
    (url,) = re.findall(r"ENGRAMLOG_REDIS_URL=redis\+cluster://(\S+)", told)
    (queue,) = re.findall(r"ENGRAMLOG_QUEUE_URL=redis://(\S+)", told)
    ports = [int(address.rpartition(":")[2]) for address in [*url.split(","), queue]]
    pids = sorted({int(pid) for pid in re.findall(r"\(pid (\d+)\)", told)})
    folder = Path(f"/proc/{pids[0]}/cwd").readlink().parent
    return Started(process, pids, ports, folder)


@pytest.fixture
def begun() -> Iterator[Started]:
    """The command, started by this test."""
    one = started(COMMAND)
    with one.process:
        yield one
        one.process.kill()


def nothing_is_left(of: Started) -> None:
    """Wait until it is so."""
    wait_until(lambda: not any(map(is_running, of.pids)), "no redis-server is left")
    wait_until(lambda: not of.folder.exists(), "no folder is left")


def test_it_is_a_cluster_and_a_redis_and_an_interrupt_ends_all_of_it(begun: Started) -> None:
    assert len(begun.pids) == len(begun.ports) == 7
    *nodes, queue = (redis.Redis(port=port, protocol=2) for port in begun.ports)
    assert [b"cluster_state:ok" in node.execute_command("CLUSTER", "INFO") for node in nodes] == [True] * 6
    assert queue.info("cluster")["cluster_enabled"] == 0
    for one in (*nodes, queue):
        one.close()
    begun.process.send_signal(signal.SIGINT)
    assert begun.process.wait() == 0
    assert begun.process.stdout is not None
    assert begun.process.stdout.read().splitlines()[-1] == "The cluster is gone."
    assert not any(map(is_running, begun.pids))
    assert not begun.folder.exists()


def test_it_ends_with_the_process_that_started_it() -> None:
    one = started([sys.executable, "-P", "-c", PARENT, *COMMAND])
    with one.process:
        one.process.kill()  # whoever started the command, as `make` does
    nothing_is_left(one)
