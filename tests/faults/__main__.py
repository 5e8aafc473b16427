"""`make faults`: what the tests notice of faults planted in the heart, each in a copy of the checkout.

`planted.json` lists them. A fault is found by its line and its function, wherever they are; edit its entry where its line is
rewritten. `python -P -m tests.faults lines -- --part=quick` runs the tests once, and keeps which of them pass through which line;
`python -P -m tests.faults run --table FILE` plants each fault (or those whose numbers are given) and runs such tests until one
fails: first the test that noticed it before, found by its name; then of each test function ten cases before others, first those
in files that are named like the fault's file, then suite by suite. A test that fails is run without the fault too, and does not
count where it fails again. Without the step `lines` only the tests that noticed a fault before are run. Gives 1 where a fault is
lost: noticed before (`noticed` of `planted.json`), and not by this suite. `after.md` is the last whole table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import psutil

from tests.faults.choosing import AREAS, files
from tests.faults.places import KEPT, Fault, found, measured, passing, planned
from tests.places import ROOT

SUITES = ("golden", "unit", "property", "contract", "integration")
ROUNDS = ((60, 60.0), (1500, 120.0))
"""How many tests may be run for a fault, and for how many seconds of CPU time; then the same of others, where they pass."""
WAITING = 10
"""How many times these seconds may pass in all, on a busy machine or where a test waits for what never comes."""
FAILS = (1, 2)
"""What pytest ends with where a test failed, and where a file of tests could not be read."""


def pytest(
    root: Path, asked: dict[str, object], *arguments: str, seconds: float | None = None
) -> tuple[int | None, str]:
    """What pytest ends with there, and says; None where it is stopped after so many seconds of its CPU time."""
    (root / KEPT.name).mkdir(exist_ok=True)
    (root / KEPT.name / "asked").write_text(json.dumps(asked), "utf-8")
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    path = os.pathsep.join(str(root / folder) for folder in settings["pythonpath"])
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "tests.faults.plugin", "-p", "no:randomly", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path, "FAULTS": str(root / KEPT.name / "asked")},
        stdout=subprocess.PIPE if seconds else None,
        stderr=subprocess.STDOUT if seconds else None,
        encoding="utf-8",
        errors="replace",
    )
    began = monotonic()
    while seconds is None or (spent(process.pid) < seconds and monotonic() - began < WAITING * seconds):
        try:
            said, _ = process.communicate(timeout=seconds and 1)
            return process.returncode, said or ""
        except subprocess.TimeoutExpired:
            continue
    process.send_signal(signal.SIGINT)  # its servers end with it
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    return None, ""


def spent(pid: int) -> float:
    """The CPU time of a process that was not waited for yet, in seconds."""
    used = psutil.Process(pid).cpu_times()
    return used.user + used.system


def measure(arguments: list[str]) -> int:
    """Run the tests once, and keep which of them pass through which line."""
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir()
    looked_at = {file for area in AREAS for file in files(area)} | {
        place[0] for fault in planned() if (place := found(fault))
    }
    code, _ = pytest(ROOT, {"lines": str(KEPT), "files": [str(ROOT / file) for file in sorted(looked_at)]}, *arguments)
    return 0 if code in (0, 1) else 2  # tests that fail are not asked


def ordered(
    file: str, tests: list[str], breadth: Counter[str], seconds: dict[str, float]
) -> Iterator[tuple[list[str], float]]:
    """The tests of each round, those of a file together, and how many seconds they have."""
    cases, names = Counter[str](), set(re.findall("[a-z]+", file))
    left = []
    for test in sorted(set(tests), key=lambda test: (breadth[test], seconds[test], test)):
        function, suite = test.partition("[")[0], test.split("/")[1]
        order = SUITES.index(suite) if suite in SUITES else len(SUITES)
        far = -len(names.intersection(re.findall("[a-z]+", test.partition("::")[0])))
        left.append((cases[function] // 10, far, order, breadth[test], test))
        cases[function] += 1
    left.sort()
    for most, limit in ROUNDS:
        taken: dict[str, list[str]] = {}
        rest, room = [], 0.7 * limit
        for one in left:
            test = one[-1]
            if sum(map(len, taken.values())) < most and room >= seconds[test]:
                taken.setdefault(test.partition("::")[0], []).append(test)
                room -= seconds[test]
            else:
                rest.append(one)
        left = rest
        if taken:
            yield [test for together in taken.values() for test in together], limit


def former(fault: Fault) -> list[str]:
    """The test that noticed a fault before, where it is today: all its cases, or all of a file."""
    file, _, test = (fault.noticed or "").partition("::")
    if not test:
        return [file] if file and (ROOT / file).exists() else []
    name = test.partition("[")[0]
    holding = (path for path in (ROOT / "tests").rglob("test_*.py") if f"def {name}(" in path.read_text("utf-8"))
    return [f"{path.relative_to(ROOT).as_posix()}::{name}" for path in holding]


def fails(root: Path, tests: list[str], seconds: float) -> str | None:
    """The first of these tests that fails there."""
    options = ("-x", "-n", "0", "--hypothesis-profile=faults", "--hypothesis-seed=0", "--tb=no", "--timeout=300")
    told_in = dict.fromkeys(test.partition("::")[0] for test in tests)
    code, said = pytest(root, {"only": tests}, *options, *told_in, seconds=seconds)
    if code is None:
        return f"stopped after {seconds:.0f} seconds of CPU time"
    if code not in FAILS:
        return None
    told = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return told[0].partition(" ")[2].partition(" - ")[0] if told else f"ended: {said[-200:]}"


def noticed(
    root: Path, fault: Fault, place: tuple[str, int], rounds: Iterable[tuple[list[str], float]]
) -> tuple[str | None, int]:
    """The test that notices a fault, and how many were asked."""
    file, row = place
    whole = (root / file).read_text("utf-8")
    lines = whole.splitlines(keepends=True)
    lines[row - 1] = lines[row - 1].replace(fault.line, fault.planted)
    asked = 0
    for tests, limit in rounds:
        asked += len(tests)
        (root / file).write_text("".join(lines), "utf-8")
        try:
            by = fails(root, tests, limit)
        finally:
            (root / file).write_text(whole, "utf-8")
        one = by is not None and by.startswith("tests/") and "::" in by
        if by and not fails(root, [by] if one else tests, limit if one else limit / 2):
            return by, asked
    return None, asked


def run(numbers: list[int], table: Path | None) -> int:
    """Plant one fault after the other; gives how many are lost."""
    lines, seconds = measured()
    breadth = Counter(test for by_line in lines.values() for tests in by_line.values() for test in tests)
    rows, many, lost = (
        ["| | area | where | line | planted | noticed by |", "| --- | --- | --- | --- | --- | --- |"],
        0,
        0,
    )
    with TemporaryDirectory(prefix="faults-") as folder:
        root = Path(folder) / "checkout"
        made = {".git", ".venv", KEPT.name, ".hypothesis"}
        shutil.copytree(ROOT, root, symlinks=True, ignore=lambda _, names: made & {*names})
        (root / ".venv").symlink_to(ROOT / ".venv")
        for number, fault in enumerate(planned(), 1):
            if numbers and number not in numbers:
                continue
            began, place = monotonic(), found(fault)
            by, asked = None, 0
            if place:
                tests = passing(*place, lines, seconds)
                rounds = chain(
                    [(before, ROUNDS[1][1])] if (before := former(fault)) else [],
                    ordered(place[0], tests, breadth, seconds),
                )
                by, asked = noticed(root, fault, place, rounds)
            result = (
                by
                or f"{'LOST' if fault.noticed else 'nobody'}: {f'{asked} tests asked' if place else 'its line is gone'}"
            )
            print(f"{number:3} {result} ({monotonic() - began:.0f} s): {fault.file}: {fault.planted}", flush=True)
            many, lost = many + (by is not None), lost + (by is None and fault.noticed is not None)
            cells = (
                str(number),
                fault.area,
                f"{place[0] if place else fault.file} {fault.function}",
                f"`{fault.line}`",
            )
            rows.append(
                "| " + " | ".join(cell.replace("|", "\\|") for cell in (*cells, f"`{fault.planted}`", result)) + " |"
            )
            asked_of = ", then ".join(f"{most} tests in {limit:.0f} seconds of CPU time" for most, limit in ROUNDS)
            summary = f"{many} of {len(rows) - 2} faults are noticed, {lost} are lost. "
            summary += f"Asked of each fault: the test that noticed it before, then at most {asked_of}."
            if table:
                table.write_text("\n".join(["# Planted faults", "", summary, "", *rows, ""]), "utf-8")
    print(summary)
    return min(lost, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -P -m tests.faults", description=__doc__)
    step = parser.add_subparsers(dest="step", required=True)
    step.add_parser("lines").add_argument("arguments", nargs="*", help="options and paths for pytest")
    running = step.add_parser("run")
    running.add_argument("--table", type=Path, help="write the results to this file too, as Markdown")
    running.add_argument("numbers", nargs="*", type=int, help="numbers of faults; all where none is given")
    given = parser.parse_args()
    if find_spec("coverage") is None:
        sys.exit("coverage is not installed in this environment; the tests of a fault cannot run: pip install coverage")
    sys.exit(measure(given.arguments) if given.step == "lines" else run(given.numbers, given.table))
