"""`python -m benchmarks bench` and `peers` at tiny sizes: every row has its figures."""

from __future__ import annotations

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.events import prepared, sample

SMALL = ("--events", "200", "--rounds", "1", "--memories", "120", "--questions", "4", "--json")


@pytest.mark.parametrize(
    ("name", "rows", "figures"),
    [
        ("append", 4, ("client us", "redis us", "limit us", "ratio")),
        ("fold", 2, ("client us", "ratio", "bytes in the log", "bytes folded")),
        ("rebuild", 1, ("client us", "redis us", "limit us", "ratio")),
        ("search", 4, ("p50 ms", "cpu p50 ms")),
        ("context", 3, ("p50 ms", "p95 ms")),
    ],
)
def test_a_benchmark_runs_and_gives_its_figures(
    name: str, rows: int, figures: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", name, *SMALL]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert set(tables) == {"machine", name}
    assert len(tables[name]) == rows
    assert all(row[figure] > 0 for row in tables[name] for figure in figures)


def test_an_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "speed"]) == 2
    assert "append" in capsys.readouterr().err


def test_libraries_that_are_installed_find_what_was_added_and_the_others_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["peers", "--count", "60", "--questions", "6", "--rounds", "1", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    for texts in ("english", "chinese"):
        rows = {row["name"]: row for row in tables[texts]}
        assert len(rows) == 7
        assert rows["Engramlog"]["found"] == rows["SQLite FTS5"]["found"] == 1
        assert all("left out" in row or row["add us"] > 0 for row in rows.values())


def test_events_are_the_same_for_the_same_seed_and_never_about_merged_memories() -> None:
    assert [one.body for one in prepared(sample(300))] == [one.body for one in prepared(sample(300))]
    kinds = {event.type for event in sample(2_000)}
    assert kinds == {
        "MemoryCreated", "MemoryMentioned", "MemoryNegated", "MemoriesAccessed", "MemoryRevised", "MemoryMerged",
    }  # fmt: skip
