"""What may import what, what may be made at import, and who may write where: rules that run themselves."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from engramlog_server.events.partitions import STORE_KEYS, Declared, LogKeys
from engramlog_server.projections.embedding.vectors import VectorKeys
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("events", "projections", "consumers", "api", "ops")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

IMPORT_ALL = """
import importlib, sys, threading
made = []

def watch(event, arguments):
    if event in {"socket.connect", "socket.bind", "subprocess.Popen", "os.fork", "os.exec", "os.posix_spawn"}:
        made.append(event)

sys.addaudithook(watch)
threading.Thread.start = lambda thread: made.append("threading.Thread.start")
for name in sys.argv[1:]:
    before = len(made)
    importlib.import_module(name)
    if len(made) > before:
        print(name, *made[before:])
"""


def module_name(path: Path) -> str:
    """The dotted name that a file is imported by."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("engramlog_server", *(parts[:-1] if parts[-1] == "__init__" else parts)))


@cache
def texts_of(path: Path) -> tuple[str, ...]:
    """Every string constant in a file, docstrings left out."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return tuple(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    )


def made_at_import(folder: Path, *names: str) -> str:
    """What importing these modules in a fresh process made, a line for each module that made anything."""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", IMPORT_ALL, *names],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_importing_any_module_makes_no_connection_no_thread_and_no_process() -> None:
    names = {module_name(path) for path in MODULES if path.stem != "__main__"}
    assert made_at_import(ROOT, *sorted(names)) == ""


def test_what_a_module_makes_at_import_is_seen(tmp_path: Path) -> None:
    (tmp_path / "threaded.py").write_text("import threading\nthreading.Thread(target=print).start()\n")
    (tmp_path / "bound.py").write_text("import socket\nsocket.socket(socket.AF_UNIX).bind('\\0engram-at-import')\n")
    (tmp_path / "spawned.py").write_text("import subprocess\nsubprocess.run(['true'])\n")
    told = made_at_import(tmp_path, "threaded", "bound", "spawned", "json")
    assert told.splitlines()[:2] == ["threaded threading.Thread.start", "bound socket.bind"]
    assert told.splitlines()[2].startswith("spawned subprocess.Popen")
    assert len(told.splitlines()) == 3


def test_only_the_redis_log_appends_to_a_stream() -> None:
    """Benchmarks are left out, and the table that tells of them: they compare with a bare XADD on a server of their own. A log
    that is sealed later is copied under the ids that it has, and so is one that comes with a backup. A note that a memory was
    appended raw wakes its judge by a stream of its own."""
    told = {ROOT / "api" / "operations" / "table.py"}
    product = [path for path in MODULES if not path.is_relative_to(ROOT / "ops" / "bench") and path not in told]
    named = [path for path in product if "XADD" in path.read_text().upper()]
    writers = {module_name(path) for path in named if any("XADD" in text.upper() for text in texts_of(path))}
    callers = {module_name(path) for path in product if re.search(r"\.xadd\(", path.read_text())}
    assert (writers, callers) == (
        {
            "engramlog_server.events.redis.append",
            "engramlog_server.consumers.encryption",
            "engramlog_server.consumers.backup",
            "engramlog_server.projections.redis.job_notes",
        },
        set(),
    )


def test_nothing_in_the_log_is_ever_changed_or_taken_away() -> None:
    forbidden = re.compile(r"\b(?:XDEL|XTRIM|XSETID|XGROUP|XREADGROUP|XCLAIM|FLUSHALL|FLUSHDB)\b", re.IGNORECASE)
    named = [path for path in MODULES if forbidden.search(path.read_text())]
    assert {module_name(path) for path in named if any(map(forbidden.search, texts_of(path)))} == set()


def test_only_the_declared_keys_of_a_store_are_named() -> None:
    named = {
        key
        for path in MODULES
        if "engramlog:" in path.read_text()
        for text in texts_of(path)
        for key in re.findall(r"(?<!urn:)engramlog:[a-z_]+", text)
    }
    assert named == set(STORE_KEYS)


def test_only_declared_keys_of_a_partition_are_named() -> None:
    """In the source a partition's key begins with a tag in braces, in an f-string or in full."""
    like = re.compile(r"\}:([a-z]+)")
    files = [path for path in MODULES if like.search(path.read_text())]
    named = {key for path in files for text in texts_of(path) for key in like.findall(text)}
    declared = {one.name for keys in (LogKeys, VectorKeys) for one in vars(keys).values() if isinstance(one, Declared)}
    assert named <= declared, named - declared


def test_every_event_that_is_read_or_made_says_by_which_path_it_comes_in() -> None:
    """Without it the door takes an event for a command's at the store, where an operator may be claimed."""
    silent, asked = [], 0
    for path in MODULES:
        if "bench" in path.parts or path.name == "door.py":
            continue
        source = path.read_text()
        for node in ast.walk(ast.parse(source)) if re.search("make_event|read_event", source) else ():
            named = getattr(node.func, "id", None) if isinstance(node, ast.Call) else None
            if named in ("make_event", "read_event", "read_events"):
                asked += 1
                told = {one.arg for one in node.keywords}  # type: ignore[attr-defined]
                if not told & {"by", None}:
                    silent.append(f"{module_name(path)}:{node.lineno}")  # type: ignore[attr-defined]
    assert silent == []
    assert asked >= 10
