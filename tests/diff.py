"""`make test-diff`: run the tests that a diff touches, found by imports and by the names of pages."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SERVER = ("events", "projections", "consumers", "api", "ops")
FOLDERS = (*SERVER, "client/engramlog", "benchmarks", "tests")


def changed(base: str) -> set[str]:
    """Paths that differ from where this branch left `base`, new files included."""
    commits, edits = git("diff", "--name-only", f"{base}...HEAD"), git("diff", "--name-only", "HEAD")
    return {*commits, *edits, *git("ls-files", "-o", "--exclude-standard")}


def git(*words: str) -> list[str]:
    """The lines that git prints."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def module(path: str) -> str:
    """The dotted name of a Python file."""
    if path.partition("/")[0] in SERVER:
        path = f"engramlog_server/{path}"
    return path.removeprefix("client/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def imports() -> dict[str, set[str]]:
    """Each Python file of the repository, and the names of modules that it imports."""
    found = {}
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        names = set[str]()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        found[str(path.relative_to(ROOT))] = names
    return found


def is_test(path: str) -> bool:
    """Whether pytest collects this file."""
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def tests_of(path: str) -> set[str]:
    """Test files that import a file; if there are none, those of the files that import it, and so on outwards."""
    level = seen = {path}
    while level:
        names = {module(one) for one in level}
        importers = {one for one, wanted in imports().items() if wanted & names}
        if tests := {one for one in importers if is_test(one)}:
            return tests
        level, seen = importers - seen, seen | importers
    return set()


def touched(paths: Iterable[str]) -> set[str]:
    """The test files for these changed paths; of deleted files those that still name them."""
    tests = {"tests/architecture/test_layers.py"}
    for path in paths:
        if path.endswith(".py"):
            tests |= {path} if is_test(path) else tests_of(path)
        else:
            name = Path(path).name
            tests |= {one for one in imports() if is_test(one) and name in (ROOT / one).read_text("utf-8")}
            tests |= {"tests/acceptance/docs/test_docs.py"} if name.endswith(".md") else set()
    return {one for one in tests if (ROOT / one).exists()}


if __name__ == "__main__":
    chosen = sorted(touched(changed(sys.argv[1])))
    print(*chosen, sep="\n", flush=True)
    sys.exit(subprocess.call([sys.executable, "-P", "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *chosen]))
