"""Past releases in a file: what is kept of a run, and what differs from the newest one, in words."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ops.bench.costs.capacity import capacity
from ops.bench.history import FILE, compared, figures, record, row_of, rows

COST = {"client_us": 20.0, "server_us": 5.0, "aof_bytes": 600, "texts": "talk", "ratio": 0.5}
ANSWER: dict[str, Any] = {
    "machine": "x86_64, 2 cores",
    "load": [0.4, 0.5, 0.6],
    "fold_costs": [
        {**COST, "traffic": "backlog", "at_a_time": None, "owners": 500, "workers": 2},
        {**COST, "traffic": "live", "at_a_time": 100, "owners": 20, "workers": 1, "append_server_us": 20.0},
    ],
    "append_costs": [{**COST, "way": "JSON", "at_a_time": 1_000}],
    "rebuild_costs": [COST],
    "rules": [{"texts": "talk", "rules_us": 3.0}],
    "held": {"owners": [160, 48_000], "times": 1.1},
}


def test_what_is_kept_is_named_by_texts_and_traffic() -> None:
    assert {
        name: value for name, value in figures(ANSWER).items() if not name.endswith(("server_us", "aof_bytes"))
    } == {
        "fold, talk, backlog, workers 2, owners 500, client_us": 20.0,
        "fold, talk, live 100, owners 20, client_us": 20.0,
        "append, talk, from JSON, 1000 at a time, client_us": 20.0,
        "rebuild, talk, client_us": 20.0,
        "rules, talk, rules_us": 3.0,
        "owners held, 48000 to 160, times": 1.1,
    }


def test_a_row_tells_the_release_the_machine_the_load_and_the_command_and_is_read_back(tmp_path: Path) -> None:
    row = row_of(ANSWER, "bench fold", datetime(2026, 11, 24, tzinfo=UTC))
    assert (row["date"], row["machine"], row["load"], row["command"]) == (
        "2026-11-24",
        "x86_64, 2 cores",
        0.4,
        "bench fold",
    )
    assert row["release"]
    record(row, tmp_path / "rows")
    record(row, tmp_path / "rows")
    assert rows(tmp_path / "rows") == [row, row]


def past(name: str, value: float, machine: str = "here", release: str = "1.0") -> dict[str, Any]:
    kept = {"release": release, "commit": "abc", "date": "2026-01-01", "machine": machine, "load": 0.1}
    return {**kept, "figures": {name: value}}


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [(10.0, 11.4, []), (10.0, 8.6, []), (10.0, 11.6, ["worse by 16%"]), (10.0, 8.0, ["better by 20%"]), (0.0, 5.0, [])],
)
def test_more_than_fifteen_percent_is_told_in_words(was: float, now: float, told: list[str]) -> None:
    found = compared(past("a", now, release="2.0"), [past("a", was)])
    assert [line.partition(":")[0] for line in found["told"]] == told
    assert all("1.0 (abc, 2026-01-01, load 0.1)" in line for line in found["told"])
    assert found["rows"] == [{"figure": "a", "was": was, "now": now, "release": "1.0", "commit": "abc"}]


def test_the_newest_row_of_the_same_machine_that_has_the_figure_counts() -> None:
    before = [past("a", 1.0), past("a", 10.0), past("b", 3.0), past("a", 99.0, machine="elsewhere")]
    found = compared(past("a", 10.0), before)
    assert [row["was"] for row in found["rows"]] == [10.0]
    assert found["compared"] == "1 of 1 figures were measured before on here"
    assert compared(past("c", 1.0), before)["compared"] == "0 of 1 figures were measured before on here"


def test_the_table_of_past_releases_can_be_read() -> None:
    kept = rows(FILE)
    assert kept
    for row in kept:
        assert row["machine"]
        assert row["command"]
        assert row["figures"]
        assert all(value >= 0 for value in row["figures"].values())


def test_capacity_is_a_second_over_what_an_event_takes_of_redis() -> None:
    assert capacity(ANSWER["fold_costs"]) == [
        {
            "texts": "talk",
            "owners": 20,
            "events_a_second": 40_000,
            "at_least": 30_000,
            "how": "1,000,000 / (append 20.0 + fold 5.0 us of Redis's main thread, 100 events at a time)",
        }
    ]
