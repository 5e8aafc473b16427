"""`make nightly`: every test with all its examples, then chaos; the result is written to `tests/nightly.md`.

A part that fails stops nothing: the table shows it, and the command ends with 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.parts import table
from tests.places import ROOT

RESULT = ROOT / "tests" / "nightly.md"
PARTS = ("quick", "ci", "rest")
CHAOS = (("chaos", "--seconds", "120"), ("chaos --cluster", "--cluster"))
"""What each is called in the table, and its options."""


def main(options: list[str]) -> int:
    """Run everything; `options` are those of pytest."""
    python = [sys.executable, "-P", "-m"]
    ended = 0
    with TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        for part in PARTS:
            words = ["pytest", f"--part={part}", "--hypothesis-profile=full", f"--told={told}", *options]
            ended |= subprocess.run([*python, *words], cwd=ROOT, check=False).returncode
        rows = [table(told.read_text("utf-8").splitlines())] if told.exists() else []
    for name, *words in CHAOS:
        began = time.monotonic()
        code = subprocess.run([*python, "tests.chaos", *words], cwd=ROOT, check=False).returncode
        ended |= code
        rows.append(f"| {name} | | {int(code == 0)} | {int(code != 0)} | 0 | {(time.monotonic() - began) / 60:.1f} |")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    date = time.strftime("%Y-%m-%d", time.gmtime())
    head = f"# The last nightly run\n\n{date}, commit {commit.stdout.strip()}, {os.cpu_count()} cores, written by `make nightly`.\n"
    RESULT.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    sys.stdout.write(RESULT.read_text("utf-8"))
    return int(ended != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
