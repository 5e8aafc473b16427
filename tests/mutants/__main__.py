"""`make mutants`: each mutant in a copy of the checkout, against its nearest tests and, where they pass, all of `make test`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.mutants import EQUAL, MUTANTS, Mutant
from tests.places import ROOT

PACKAGES = ("events", "projections", "consumers", "api", "ops", "client", "tests", "docs", ".ci")
FILES = (
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE"),
    *("pyproject.toml", "Makefile", "requirements.lock"),
)
NEAR = ("--part=quick", "-p", "no:randomly", "-p", "no:xdist")
"""The nearest tests that `make test` runs, in their order, in one process."""
NO_TESTS = 5
"""Exit code of pytest where nothing was collected."""


def copied(to: Path) -> None:
    """A checkout without what is made in it; its environment is that of the original."""
    for name in PACKAGES:
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy2(ROOT / name, to / name)
    (to / ".venv").symlink_to(ROOT / ".venv")


def fails(checkout: Path, *arguments: str) -> str | None:
    """The first test that fails there, or None where all pass. Stops at the first, and looks for no smaller example."""
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-x", "--hypothesis-profile=mutants", *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout), str(checkout / "client")])},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode in (0, NO_TESTS):
        return None
    told = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return told[0].partition(" ")[2].partition(" - ")[0] if told else ran.stdout[-500:] + ran.stderr[-500:]


def caught(checkout: Path, mutant: Mutant, *, near_alone: bool) -> str | None:
    """By which test a mutant is caught, one that passes without it; None where `make test` passes."""
    file = checkout / mutant.file
    whole = file.read_text("utf-8")
    if whole.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.file} does not hold this once: {mutant.old}")
    file.write_text(whole.replace(mutant.old, mutant.new), "utf-8")
    try:
        by = fails(checkout, *NEAR, *(f"tests/{path}" for path in mutant.near))
        if by is None and not near_alone:
            by = fails(checkout, "-n", "2", "--dist", "loadfile", "--part=quick")
    finally:
        file.write_text(whole, "utf-8")
    if by is not None and (without := fails(checkout, *NEAR, by)) is not None:
        raise SystemExit(f"{by} fails without the mutant too: {without}")
    return by


def main() -> int:
    """Tell which were caught, and by what; gives how many were not, but for equals."""
    parser = argparse.ArgumentParser(prog="python -P -m tests.mutants", description=__doc__)
    parser.add_argument("--near-alone", action="store_true", help="ask the nearest tests alone")
    parser.add_argument("only", nargs="*", type=int, help="numbers of mutants, from 1; all where none is given")
    asked = parser.parse_args()
    missed = 0
    with TemporaryDirectory(prefix="engramlog-mutants-") as folder:
        copied(Path(folder))
        for number, mutant in enumerate(MUTANTS, 1):
            if asked.only and number not in asked.only:
                continue
            by = caught(Path(folder), mutant, near_alone=asked.near_alone)
            equal = EQUAL.get(mutant.breaks)
            missed += by is None and equal is None
            told = f"caught by {by}" if by else f"equal: {equal}" if equal else "NOT CAUGHT"
            print(f"{number:2} {mutant.file}: {mutant.breaks}: {told}", flush=True)
    return min(missed, 100)


if __name__ == "__main__":
    sys.exit(main())
