"""Threads of the processes, and how often they look for garbage."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog_server.ops.processes.life import OBJECTS, USUAL, look_seldom, started

THREADS = "OPENBLAS_NUM_THREADS"
ENTRIES = (
    "engramlog_server.ops.main",
    "engramlog_server.ops.worker",
    "engramlog_server.ops.job_worker",
    "benchmarks.__main__",
)
"""Modules that processes of ours start with."""
COUNT = "import {entry}, numpy, os; numpy.ones((600, 600)) @ numpy.ones((600, 600)); print(len(os.listdir('/proc/self/task')))"


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_a_process_looks_for_garbage_late_until_it_has_started() -> None:
    look_seldom()
    assert gc.get_threshold()[0] == OBJECTS
    started()
    gc.unfreeze()
    assert gc.get_threshold() == USUAL


def threads_after_a_product(entry: str, **environment: str) -> int:
    """How many threads a process has that loaded this module, then numpy, and multiplied."""
    clean = {name: value for name, value in os.environ.items() if name != THREADS}
    command = [sys.executable, "-c", COUNT.format(entry=entry)]
    done = subprocess.run(
        command, env=clean | environment, cwd=Path(__file__).parents[3], capture_output=True, check=True, text=True
    )
    return int(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir() or (os.cpu_count() or 1) < 2, reason="counts in /proc")
def test_every_process_of_ours_multiplies_in_one_thread_unless_somebody_set_another_number() -> None:
    assert {entry: threads_after_a_product(entry) for entry in ENTRIES} == dict.fromkeys(ENTRIES, 1)
    assert threads_after_a_product("engramlog_server.ops.worker", **{THREADS: "2"}) == 2
