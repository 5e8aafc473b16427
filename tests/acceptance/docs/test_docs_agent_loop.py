"""The tour of the agent's loop is run as it stands, but for its ports, and must show what it says it shows."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.acceptance.docs.test_readme import ROOT, run_tour

PAGE = (ROOT / "docs" / "how-to" / "agent.md").read_text("utf-8")


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the examples; what the tour started there is ended at the latest here."""
    for examples in ("docs/examples", "client/examples"):
        shutil.copytree(ROOT / examples, tmp_path / examples)
    yield tmp_path
    for name in ("up.pid", "model.pid"):
        if (tmp_path / name).exists():
            ended(int((tmp_path / name).read_text()))


def ended(pid: int) -> None:
    """Wait until a process that was told to stop has done so; kill it otherwise."""
    for _ in range(200):
        if not lives(pid):
            return
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def lives(pid: int) -> bool:
    """Whether a process runs still; one that nobody waits for is a zombie, and does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.timeout(900)
def test_a_day_of_an_agent_goes_as_it_is_told(folder: Path) -> None:
    up, model = free_port(), free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAMLOG_")} | {
        "ENGRAMLOG_DATA": str(folder / "data"),
        "ENGRAMLOG_PORT": up,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "client")]),
        "PYTHONUTF8": "1",
        "COLUMNS": "160",
    }
    page = PAGE.replace("8733", up).replace("8099", model)
    assert run_tour(page, folder, environment) == {}
