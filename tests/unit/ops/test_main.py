"""What a short process of the command is spared, and a long one is not."""

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
    for name in (THREADS, "ENGRAMLOG_EMBEDDER", "engramlog_embedder"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def spared(*words: str) -> tuple[bool, bool]:
    """Whether garbage is looked for late, and one thread multiplies."""
    _spare(words)
    return gc.get_threshold()[0] == OBJECTS, os.environ.get(THREADS) == "1"


@each_row("words", [["search", "ada", "up"], ["--help"], [], ["--json", "status"]])
def test_a_short_process_looks_for_garbage_late_and_starts_no_threads(words: list[str]) -> None:
    assert spared(*words) == (True, True)


@each_row("command", ["up", "console", "mcp", "worker"])
def test_a_process_that_stays_and_those_that_it_starts_are_as_they_would_be(command: str) -> None:
    assert spared(command, "--json") == (False, False)


@each_row("name", ["ENGRAMLOG_EMBEDDER", "engramlog_embedder"])
def test_where_an_embedder_is_named_its_threads_are_left_alone(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "minilm")
    assert spared("search", "ada", "tea") == (True, False)
