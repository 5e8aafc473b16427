"""The house in figures: how crowded its rooms are, and what is said more than once. `make house` prints them."""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.places import ROOT

PRODUCT = ("events", "projections", "consumers", "api", "ops")
FACES = ("api/cli", "api/http", "api/mcp", "api/operations", "client/engramlog")
TEACHING = (
    "events/catalogue/memory.py",
    "projections/fold/evolve.py",
    "projections/laws/ebbinghaus.py",
    "consumers/fold/worker.py",
    "projections/ranking/recall.py",
)
"""Five files that teach the system: events, the fold, a law, the worker's loop, a search."""
SEARCH_FILTER = "min_weight"
"""A filter of search, told by a name that nothing else has: how many files would name a new one."""


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    name: str
    before: int
    """At release 0.2.0."""
    count: Callable[[], int]
    asked: int
    """At most."""
    held: int
    """What it must not rise above: `test_house` holds it, and it only falls."""

    @cached_property
    def now(self) -> int:
        """Counted when it is first asked for: collecting the tests counts nothing."""
        return self.count()


MADE = ("client/engramlog/answers.py", "client/engramlog/questions.py")
"""Written by a program: nobody keeps them by hand."""


def python_files(*folders: str) -> list[Path]:
    """Every Python file below these folders of the repository."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def by_hand(paths: Iterable[Path]) -> list[Path]:
    """Those that people keep."""
    return [path for path in paths if str(path.relative_to(ROOT)) not in MADE]


@cache
def tree_of(path: Path) -> ast.Module:
    """A file, parsed."""
    return ast.parse(path.read_text("utf-8"))


def lines_of(paths: Iterable[Path]) -> int:
    """All their lines together."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def folders() -> Mapping[str, int]:
    """How many Python files lie in each folder of the product and of its tests, subfolders left out."""
    counted = Counter(str(path.parent.relative_to(ROOT)) for path in python_files(*PRODUCT, "client", "tests"))
    return dict(counted.most_common())


def classes_in_several_files() -> Mapping[str, list[str]]:
    """Public class names of the product that stand in more than one file, and the files."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in python_files(*PRODUCT):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(str(path.relative_to(ROOT)))
    return {name: sorted(files) for name, files in sorted(found.items()) if len(files) > 1}


def calls_of(name: str) -> Iterator[str]:
    """The places of the product that call this name: file and line."""
    for path in python_files(*PRODUCT):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield f"{path.relative_to(ROOT)}:{node.lineno}"


def loose_answers() -> int:
    """How often `dict[str, Any]` stands in api: answers without a shape."""
    return sum(path.read_text("utf-8").count("dict[str, Any]") for path in python_files("api"))


def files_naming(word: str) -> list[str]:
    """Files of the product and the client that name this word."""
    paths = by_hand(python_files(*PRODUCT, "client"))
    return [str(path.relative_to(ROOT)) for path in paths if word in path.read_text("utf-8")]


@cache
def figures() -> tuple[Figure, ...]:
    """Every figure that files alone can tell; what a start costs is measured by `engramlog bench`."""
    fullest, count = next(iter(folders().items()))
    return (
        Figure(f"files in the fullest folder ({fullest})", 143, lambda: count, 25, 25),
        Figure(
            "lines of face by hand (command line, HTTP, MCP, client)",
            13_300,
            lambda: lines_of(by_hand(python_files(*FACES))),
            8_500,
            30_470,
        ),
        Figure(
            f"files that name a filter of search ({SEARCH_FILTER})", 7, lambda: len(files_naming(SEARCH_FILTER)), 2, 2
        ),
        Figure("places that build MemoryCreated", 10, lambda: len(list(calls_of("MemoryCreated"))), 3, 2),
        Figure("public class names in more than one file", 64, lambda: len(classes_in_several_files()), 10, 10),
        Figure("dict[str, Any] in api", 308, loose_answers, 60, 238),
        Figure("lines of the product", 56_600, lambda: lines_of(python_files(*PRODUCT)), 49_000, 165_749),
        Figure(
            "lines of the five files that teach", 1_221, lambda: lines_of(ROOT / path for path in TEACHING), 500, 848
        ),
    )


def main() -> None:
    """Print the table."""
    rows = figures()
    width = max(len(row.name) for row in rows)
    print(f"{'':{width}}   0.2.0     now   asked    held", file=sys.stdout)
    for row in rows:
        print(f"{row.name:{width}}  {row.before:6,}  {row.now:6,}  {row.asked:6,}  {row.held:6,}", file=sys.stdout)


if __name__ == "__main__":
    main()
