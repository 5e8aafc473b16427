"""Threads of the command's processes, and how often they look for garbage."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from ops.garbage import OBJECTS
from ops.main import _spare
from tests.rows import each_row

THREADS = "OPENBLAS_NUM_THREADS"


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = gc.get_threshold()
    monkeypatch.setenv(THREADS, "")
    monkeypatch.delenv(THREADS)
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def spared(*words: str) -> tuple[bool, bool]:
    """Whether garbage is looked for late, and one thread multiplies."""
    _spare(words)
    return gc.get_threshold()[0] == OBJECTS, os.environ.get(THREADS) == "1"


@each_row("words", [["search", "ada", "up"], ["--help"], [], ["--json", "status"]])
def test_a_short_process_looks_for_garbage_late_and_multiplies_in_one_thread(words: list[str]) -> None:
    assert spared(*words) == (True, True)


@each_row("command", ["up", "console", "mcp", "worker"])
def test_a_process_that_stays_multiplies_in_one_thread_too(command: str) -> None:
    assert spared(command, "--json") == (False, True)


def test_a_number_of_threads_that_somebody_set_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS, "4")
    assert spared("up") == (False, False)
