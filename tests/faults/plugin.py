"""A plugin of pytest (`-p tests.faults.plugin`): which test passes through which line, or these tests alone in this order.

Lines that run in another process are not seen: a test passes through a line only where the line runs in the test's own process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest
from hypothesis import Phase, settings

from tests.examples import QUICK_EXAMPLES

settings.register_profile(  # no example is shrunk, none is kept for the next fault
    "faults", deadline=None, max_examples=QUICK_EXAMPLES, database=None, phases=(Phase.explicit, Phase.generate)
)
TOLD = json.loads(Path(os.environ["FAULTS"]).read_text("utf-8"))
"""What is asked: `lines`, the folder for what each process measures, and `files` to measure; or `only`, the tests to run."""
SECONDS: dict[str, float] = {}
FAILED: set[str] = set()
MEASURED = coverage.Coverage(data_file=None, include=TOLD.get("files"), config_file=False, messages=False)
if "lines" in TOLD:
    MEASURED.start()  # nothing of the heart is imported yet


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """What runs from here on runs for this test."""
    if "lines" in TOLD:
        MEASURED.switch_context(item.nodeid)
    result = yield
    if "lines" in TOLD:
        MEASURED.switch_context("")
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """How long a test takes with its fixtures, and which do not pass."""
    SECONDS[report.nodeid] = SECONDS.get(report.nodeid, 0) + report.duration
    if report.outcome != "passed":
        FAILED.add(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests that are asked for, in that order: cases, all of a function, or all of a file."""
    if "only" in TOLD:
        place = {test: number for number, test in enumerate(TOLD["only"])}

        def asked(item: pytest.Item) -> int | None:
            names = (item.nodeid, item.nodeid.partition("[")[0], item.nodeid.partition("::")[0])
            return min((place[name] for name in names if name in place), default=None)

        kept = [(number, item) for item in items if (number := asked(item)) is not None]
        items[:] = [item for _, item in sorted(kept, key=lambda kept: kept[0])]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the tests of this process, and the numbers of those that passed through each line of each file."""
    if "lines" not in TOLD:
        return
    MEASURED.stop()
    data = MEASURED.get_data()
    numbers = {test: number for number, test in enumerate(SECONDS)}
    lines = {
        str(Path(file).resolve().relative_to(session.config.rootpath)): {
            line: sorted(numbers[test] for test in tests if test)
            for line, tests in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    tests = [(test, round(seconds, 3), test not in FAILED) for test, seconds in SECONDS.items()]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "all")
    (Path(TOLD["lines"]) / f"{worker}.json").write_text(json.dumps({"tests": tests, "lines": lines}), "utf-8")
