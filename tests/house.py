"""`make house`: how many files a call passes, and how many lines each room has. It prints; it fails nothing."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from engramlog import Memory
from tests.given.client import service
from tests.given.http import TOKEN

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("events", "projections", "consumers", "api", "ops", "client")
ROOMS = (*PRODUCT, "client-ts/src", "benchmarks", "tests")
_MADE = (
    "client/engramlog/questions.py",
    "client/engramlog/answers/__init__.py",
    "projections/shapes.pyi",
    "api/operations/table.py",
)
GENERATED = {ROOT / name for name in _MADE}
WORD_TABLES = ".tsv"
KINDS = (".py", ".lua", ".js", ".ts", ".css", ".html")
"""Other languages are counted too: moving code into another language makes nothing smaller."""
OWNER = "lin"
BACKGROUND_SECONDS = 2.0
"""How long the idle service is watched for what runs without any call."""


class Passed:
    """The files in which a function starts, in every thread but the caller's own."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """A profile function, as `sys.setprofile` takes it."""
        if event == "call":
            self.files.add(frame.f_code.co_filename)

    def during(self, call: Callable[[], object]) -> set[str]:
        """Names of the product's files that ran while this call was answered."""
        self.files.clear()
        call()
        here = [Path(name).resolve() for name in self.files.copy() if name.startswith(f"{ROOT}/")]
        return {str(path.relative_to(ROOT)) for path in here if path.relative_to(ROOT).parts[0] in PRODUCT}


def passed_files() -> dict[str, set[str]]:
    """The files that each call passes in a warm service, after the turns of the README's story."""
    passed = Passed()
    threading.setprofile(passed)
    with TemporaryDirectory() as folder, service(Path(folder)) as running:
        with Memory(running.url, token=TOKEN, timeout=60) as client:
            memory = client.of(OWNER)
            turns = [json.loads(line) for line in (ROOT / "docs/examples/turns.jsonl").read_text("utf-8").splitlines()]
            ids = [memory.add(turn["text"]).id for turn in turns]
            cups = count(1)
            calls: dict[str, Callable[[], Any]] = {
                "add": lambda: memory.add(f"I drink coffee every morning, cup {next(cups)}"),
                "search": lambda: memory.search("What does she drink?", limit=3),
                "why": lambda: memory.why(ids[0]),
                "context": lambda: memory.context("What does she drink?"),
            }
            for call in [*calls.values(), *calls.values()]:
                call()
            background = passed.during(lambda: time.sleep(BACKGROUND_SECONDS))
            found = {name: passed.during(call) for name, call in calls.items()}
    threading.setprofile(None)
    together = {"add + search + why": found["add"] | found["search"] | found["why"]}
    return found | together | {"idle (background threads, counted above too)": background}


def lines_of(path: Path) -> int:
    """Lines of a text file."""
    return len(path.read_text("utf-8").splitlines())


def rows() -> Iterator[tuple[str, int, int]]:
    """Name, files and lines: each room by language, then what is generated, then word tables."""
    apart = Counter[str](), Counter[str]()
    for room in ROOMS:
        files, lines = Counter[str](), Counter[str]()
        for path in (ROOT / room).rglob("*"):
            kind = path.suffix
            name = "generated" if path in GENERATED else "word tables" if kind == WORD_TABLES else ""
            if not path.is_file() or not (name or kind in KINDS) or "generated" in path.parts:  # built, not kept
                continue
            counted = apart if name else (files, lines)
            counted[0][name or kind] += 1
            counted[1][name or kind] += lines_of(path)
        yield from ((f"{room} {kind[1:]}", files[kind], lines[kind]) for kind in KINDS if files[kind])
    yield from ((name, apart[0][name], apart[1][name]) for name in sorted(apart[0]))


def main() -> None:
    """Print both tables."""
    print(f"{'files passed':45} {'files':>7} {'lines':>8}")
    for name, files in passed_files().items():
        print(f"{name:45} {len(files):7,} {sum(lines_of(ROOT / file) for file in files):8,}")
        if name in sys.argv:
            print(*sorted(files), sep="\n")
    counted = list(rows())
    print(f"\n{'room':45} {'files':>7} {'lines':>8}")
    for name, number, lines in counted:
        print(f"{name:45} {number:7,} {lines:8,}")
    python = [row for row in counted if row[0].endswith(" py") and row[0].partition(" ")[0] in PRODUCT]
    print(
        f"{'Python of the product, together':45} {sum(row[1] for row in python):7,} {sum(row[2] for row in python):8,}"
    )


if __name__ == "__main__":
    main()
