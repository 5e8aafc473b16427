"""The image: its recipe is sound, what it installs is what is pinned, a container says whether it is well; and where a builder is,
it is built and run."""

from __future__ import annotations

import http.server
import importlib.util
import json
import re
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import pytest

from engramlog_server.ops.processes.life import END_SECONDS
from tests.audit.locks import OURS, pinned
from tests.audit.needs import needed, project
from tests.chaos.cast import wait_until
from tests.integration.deploy.images import RUN_OPTIONS, builder, built
from tests.integration.deploy.read import DEPLOY, IMAGE, taken
from tests.made.image_locks import image_locks
from tests.places import ROOT
from tests.servers import NO_BUILDER

RECIPE = (IMAGE / "Dockerfile").read_text("utf-8")
LINES = re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*#.*\n", "", RECIPE)).splitlines()
"""Of the recipe, each instruction on one."""


def instruction(name: str) -> list[str]:
    """What follows each instruction of this name, in the last stage."""
    last = max(number for number, line in enumerate(LINES) if line.startswith("FROM"))
    return [line.partition(" ")[2].strip() for line in LINES[last:] if line.startswith(f"{name} ")]


def test_the_recipe_is_sound() -> None:
    command = [str(Path(sys.executable).with_name("hadolint")), "--no-color", str(IMAGE / "Dockerfile")]
    if not Path(command[0]).exists():
        pytest.skip("no hadolint for this machine")
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_what_the_image_installs_is_what_is_pinned() -> None:
    for name, text in image_locks().items():
        assert (IMAGE / name).read_text("utf-8") == text, f"{name}: `make image-locks` writes it anew"


def test_it_is_all_that_running_leads_to_and_none_of_what_tests_need() -> None:
    wanted = {(one.name, one.version) for one in pinned(OURS) if one.name in needed(project()["dependencies"])}
    found = {(one.name, one.version) for one in pinned(IMAGE / "requirements.lock")}
    assert found == wanted
    assert not {"pytest", "mypy", "ruff", "hypothesis"} & {name for name, _ in found}
    assert "hatchling" in {one.name for one in pinned(IMAGE / "build.lock")}


def test_it_runs_as_a_number_that_is_not_root_and_is_told_to_end_by_sigterm() -> None:
    assert instruction("USER") == ["10001:10001"]
    assert instruction("STOPSIGNAL") == ["SIGTERM"]
    words = [*json.loads(instruction("ENTRYPOINT")[0]), *json.loads(instruction("CMD")[0])]
    assert (words[0], taken(words[1:])) == ("engramlog", "engramlog up")
    (asked,) = instruction("HEALTHCHECK")
    assert json.loads(asked.partition("CMD ")[2]) == ["python", "-I", "/opt/engramlog/healthy.py"]


def ignored(path: str) -> bool:
    """Whether a file is kept out of what images are made of: the last line that fits decides. As much of the rules as ours use."""
    out = False
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.removeprefix("!").removeprefix("**/")
        if not line or line.startswith("#"):
            continue
        parts = path.split("/")
        heads = ["/".join(parts[: number + 1]) for number in range(len(parts))]
        if line.removeprefix("!").startswith("**/"):
            heads = parts
        if any(fnmatch(head, pattern) and head.count("/") == pattern.count("/") for head in heads):
            out = not line.startswith("!")
    return out


def test_all_that_the_recipe_copies_is_let_in_and_nothing_else() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    copied = [
        word for line in LINES if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    for word in copied:
        inside = [path for path in tracked if path == word or path.startswith(f"{word}/")]
        assert inside, word
        assert [path for path in inside if not path.startswith("ops/deploy/") and ignored(path)] == []
        assert (ROOT / word).is_dir() or not ignored(word), word
    let_in = {path for path in tracked if path and not ignored(path)}
    assert {path for path in let_in if not any(path == word or path.startswith(f"{word}/") for word in copied)} == set()
    for path in (
        "ops/deploy/compose/secrets/tls.key",
        "ops/deploy/compose/.env",
        ".git/config",
        "ops/__pycache__/a.pyc",
    ):
        assert ignored(path), path


def healthy() -> ModuleType:
    """`healthy.py` as a module."""
    spec = importlib.util.spec_from_file_location("healthy", IMAGE / "healthy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def answering(status: int, asked: list[str], at: Path | None = None) -> Iterator[int]:
    """A server that answers all with a status, at a socket or at a port of its own, which it gives."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("content-length", "7")
            self.end_headers()
            self.wfile.write(b"stopped")

        def log_message(self, *_: Any) -> None:
            """Nothing."""

        def address_string(self) -> str:
            return "socket"

    made: socketserver.BaseServer
    made = socketserver.UnixStreamServer(str(at), Answer) if at else http.server.HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield 0 if at else made.server_address[1]  # type: ignore[misc,return-value,index]
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


def test_a_service_is_well_where_it_says_that_it_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path))
    look, asked = healthy(), list[str]()
    assert "/ready is not answered" in look.wrong("up")
    with answering(200, asked, tmp_path / "api.sock"):
        assert look.wrong("up") is None
    (tmp_path / "api.sock").unlink()
    with answering(503, asked, tmp_path / "api.sock"):
        assert look.wrong("up") == "/ready answers 503: stopped"
    assert asked == ["/ready", "/ready"]


def test_a_worker_is_well_where_it_tells_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    look, asked = healthy(), list[str]()
    assert look.wrong("worker").startswith("ENGRAMLOG_METRICS: got ''; allowed:")
    with answering(200, asked) as port:
        monkeypatch.setenv("ENGRAMLOG_METRICS", str(port))
        assert look.wrong("worker") is None
    assert asked == ["/metrics"]
    assert "/metrics is not answered" in look.wrong("worker")
    assert look.wrong("api") == "got 'api'; allowed: up, worker"


def test_what_a_container_says_is_an_exit_code(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-I", str(IMAGE / "healthy.py")],
        env={"ENGRAMLOG_DATA": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr[:24]) == (1, "/ready is not answered: ")
    assert {path.name for path in IMAGE.iterdir()} - {"__pycache__"} == {
        *("Dockerfile", "build.lock", "healthy.py", "requirements.lock")
    }
    assert DEPLOY in IMAGE.parents


def test_a_first_process_ends_when_it_is_told_to_before_it_does_anything_else() -> None:
    """The kernel keeps SIGTERM from a process 1 without a handler; here another process takes itself for one."""
    program = (
        "import os, signal; own = os.getpid(); os.getpid = lambda: 1; "
        "from engramlog_server.ops.main import _heed_the_end as heed; heed()"
    )
    command = [sys.executable, "-c", f"{program}; os.kill(own, signal.SIGTERM)"]
    assert subprocess.run(command, check=False, cwd=ROOT, capture_output=True).returncode == 128 + signal.SIGTERM


@pytest.mark.skipif(builder() is None, reason=NO_BUILDER)
def test_it_is_built_runs_without_root_and_loses_nothing_when_it_is_stopped() -> None:
    named = built("localhost/engramlog-tested")
    name, volume = f"engramlog-{uuid4().hex[:8]}", f"engramlog-{uuid4().hex[:8]}"
    closed = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    run = [*named, "run", *RUN_OPTIONS, *closed, "--volume", f"{volume}:/var/lib/engramlog"]

    def asked(*words: str) -> str:
        ran = subprocess.run([*named, "exec", name, *words], check=False, capture_output=True, text=True)
        return ran.stdout if ran.returncode == 0 else ""

    subprocess.run([*run, "--detach", "--name", name, "localhost/engramlog-tested"], check=True, capture_output=True)
    try:
        wait_until(
            lambda: asked("sh", "-c", "python -I /opt/engramlog/healthy.py && echo well") == "well\n", "it is well"
        )
        assert asked("id", "-u") == "10001\n"
        assert asked("sh", "-c", "touch /opt/engramlog/x || echo read-only") == "read-only\n"
        assert asked("sh", "-c", "command -v pip gcc cc make || echo none") == "none\n"
        assert json.loads(asked("engramlog", "add", "lin", "I drink coffee", "--id", "tea", "--json"))
        subprocess.run([*named, "stop", "--time", "30", name], check=True, capture_output=True)
        state = json.loads(subprocess.run([*named, "inspect", name], check=True, capture_output=True).stdout)[0][
            "State"
        ]
        assert state["ExitCode"] == 0
        after = [*run, "--rm", "localhost/engramlog-tested", "get", "lin", "tea", "--json"]
        assert "I drink coffee" in subprocess.run(after, check=True, capture_output=True, text=True).stdout
        assert END_SECONDS < 30
    finally:
        subprocess.run([*named, "rm", "--force", name], check=False, capture_output=True)
        subprocess.run([*named, "volume", "rm", volume], check=False, capture_output=True)
