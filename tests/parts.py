"""`pytest --part quick`, `ci` or `rest`: which tests each of them runs, and what a run reports (`--told FILE`)."""

from __future__ import annotations

import gc
import json
from collections import Counter, defaultdict
from pathlib import Path
from time import monotonic

import pytest
from hypothesis import settings

from tests.promises import guarding, guards, is_quick

TESTS = Path(__file__).parent
PARTS = ("quick", "ci", "rest", "quick+ci")
OUTCOMES = {"passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped"}
"""How a run counts what pytest says of a test."""
BEGAN = pytest.StashKey[float]()


class Unmatched(pytest.Item):
    """A name in a promise that no test has: the test was renamed, or its rows became one test."""

    def runtest(self) -> None:
        pytest.fail(f"tests/promises.py names {self.name}, which does not exist", pytrace=False)


def unmatched(tests: set[str]) -> list[str]:
    """The names in promises that none of these tests has."""
    known = {name for test in tests for name in (test, test.partition("[")[0], test.partition("::")[0])}
    return sorted(guarding() - known)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BEGAN] = monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("engramlog")
    group.addoption("--part", choices=PARTS, help="quick: `make test`; ci: `make test-ci`; rest: what both leave out")
    group.addoption("--told", metavar="FILE", help="add what ran, by suite, to this file: a line of JSON")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which no test belongs to the part are not even read."""
    part = config.getoption("--part")
    if part is None or collection_path.suffix != ".py":
        return None
    path = collection_path.relative_to(TESTS).as_posix()
    guarded = any(test.partition("::")[0] == path for test in guarding())
    holds = {"quick", "rest"} if is_quick(path) else {"ci", "rest"} if guarded else {"rest"}
    return None if holds.intersection(part.split("+")) else True


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of files that hold tests of two parts, those of this one; with `ci`, one that fails if a promise names no test."""
    part = config.getoption("--part")
    if part is None:
        return
    kept, left = [], []
    for item in items:
        path = item.path.relative_to(TESTS).as_posix()
        of = "quick" if is_quick(path, item.name) else "ci" if guards(path, item.name) else "rest"
        (kept if of in part.split("+") else left).append(item)
    if "ci" in part.split("+") and config.args == config.getini("testpaths"):
        names = {f"{item.path.relative_to(TESTS).as_posix()}::{item.name}" for item in kept}
        kept.extend(Unmatched.from_parent(session, name=name) for name in unmatched(names))
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
            suite = "/".join(report.nodeid.partition("::")[0].split("/")[1:-1][:2])
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
    """What several runs reported: a row of Markdown for each part and folder, and one for each part together."""
    told = ["| part | folder | passed | failed | skipped | minutes |", "| --- | --- | --- | --- | --- | --- |"]
    for run in map(json.loads, lines):
        suites = sorted(run["suites"].items())
        together = {name: sum(counts.get(name, 0) for _, counts in suites) for name in ("passed", "failed", "skipped")}
        for suite, counts in [*suites, ("together", together | {"seconds": run["wall"]})]:
            cells = [f"{counts.get(name, 0):,}" for name in ("passed", "failed", "skipped")]
            told.append(f"| {run['part']} | {suite} | {' | '.join(cells)} | {counts['seconds'] / 60:.1f} |")
    return "\n".join(told)
