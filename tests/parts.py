"""`pytest --part quick` and `--part rest`: which tests each of them runs, and what a run tells of itself (`--told FILE`)."""

from __future__ import annotations

import gc
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from time import monotonic

import pytest
from hypothesis import settings

from tests.patience import UNSTEADY
from tests.promises import guarding, guards, is_quick

TESTS = Path(__file__).parent
PARTS = ("quick", "rest")
OUTCOMES = {"passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped", "rerun": "run again"}
"""How a run counts what pytest says of a test."""
BEGAN = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BEGAN] = monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("engramlog")
    group.addoption("--part", choices=PARTS, help="quick: what `make test` runs; rest: what it leaves out")
    group.addoption("--told", metavar="FILE", help="add what ran, by suite, to this file: a line of JSON")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which no test belongs to the part are not even read."""
    part = config.getoption("--part")
    if part is None or collection_path.suffix != ".py":
        return None
    path = collection_path.relative_to(TESTS).as_posix()
    if part == "rest":
        return True if is_quick(path) else None
    return None if is_quick(path) or any(test.partition("::")[0] == path for test in guarding()) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of files that hold tests of both parts, those of this one."""
    part = config.getoption("--part")
    if part is None:
        return
    kept, left = [], []
    for item in items:
        path = item.path.relative_to(TESTS).as_posix()
        quick = is_quick(path) or guards(path, item.name)
        (kept if quick == (part == "quick") else left).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def pytest_collection_finish() -> None:
    """Fifteen thousand tests stay until the end: nobody looks for garbage among them again and again, nor at the end."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Add what ran to the file of `--told`, where one is named; of several processes the one that hears of all."""
    file = config.getoption("--told")
    if file is None or hasattr(config, "workerinput"):
        return
    told = defaultdict[str, Counter[str]](Counter)
    seconds = Counter[str]()
    for category, reports in terminalreporter.stats.items():
        for report in reports:
            if not isinstance(report, pytest.TestReport):
                continue
            suite = report.nodeid.split("/")[1]
            seconds[suite] += report.duration
            if category in OUTCOMES:
                told[suite][OUTCOMES[category]] += 1
    suites = {suite: dict(counts) | {"seconds": round(seconds[suite], 1)} for suite, counts in told.items()}
    wall = round(monotonic() - config.stash[BEGAN])
    examples = settings.get_current_profile_name()
    line = {"part": config.getoption("--part") or "all", "examples": examples, "wall": wall, "suites": suites}
    with Path(file).open("a", encoding="utf-8") as written:
        written.write(json.dumps(line) + "\n")


def table(lines: list[str]) -> str:
    """What several runs told, by part and suite: how many passed, failed, were skipped and run again, and their seconds."""
    columns = ("passed", "failed", "skipped", "run again", "seconds")
    rows = [("part", "suite", *columns, "examples")]
    for run in map(json.loads, lines):
        for suite, told in sorted(run["suites"].items()):
            rows.append((run["part"], suite, *(f"{told.get(column, 0):,}" for column in columns), ""))
        counts = [sum(told.get(column, 0) for told in run["suites"].values()) for column in columns[:-1]]
        rows.append(
            (
                run["part"],
                "together",
                *(f"{count:,}" for count in counts),
                f"{run['wall']:,} on the clock",
                run["examples"],
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main(file: str) -> int:
    """Print the table; gives 1 where more tests were run again than one check of everything allows."""
    lines = Path(file).read_text("utf-8").splitlines()
    sys.stdout.write(table(lines) + "\n")
    again = sum(told.get("run again", 0) for run in map(json.loads, lines) for told in run["suites"].values())
    return int(again > UNSTEADY)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
