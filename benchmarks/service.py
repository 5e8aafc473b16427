"""A new service with default settings for one measurement, and the CPU that it takes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import NamedTuple

from engramlog import Memory
from engramlog.home import listens

START_SECONDS = 60.0
_TICK = os.sysconf("SC_CLK_TCK")


class Service(NamedTuple):
    """A running service."""

    memory: Memory
    data: Path
    """Its data folder."""
    pid: int
    """Its first process, which leads the session of all its processes."""

    def cpu(self) -> float:
        """Seconds of CPU of all processes of the service, of this process and of its ended children; Linux only."""
        return sum(os.times()[:4]) + sum(_seconds(folder, self.pid) for folder in Path("/proc").glob("[0-9]*"))


def _seconds(folder: Path, session: int) -> float:
    """CPU of one process and of its ended children, 0 for a process of another session."""
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK if int(fields[3]) == session else 0.0


@contextmanager
def fresh_service() -> Iterator[Service]:
    """A service in a folder that is deleted afterwards; `Memory()` of this process uses it meanwhile."""
    with TemporaryDirectory(prefix="engramlog-measured-", ignore_cleanup_errors=True) as data:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ENGRAMLOG_")}
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "engramlog"), "up", "--port", "0", "--json"],
            env=environment | {"ENGRAMLOG_DATA": data},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        before = os.environ.get("ENGRAMLOG_DATA")
        try:
            _wait_until_ready(process, Path(data))
            os.environ["ENGRAMLOG_DATA"] = data
            with Memory(start=False, timeout=120.0) as memory:
                yield Service(memory, Path(data), process.pid)
        finally:
            os.environ.pop("ENGRAMLOG_DATA", None)
            if before is not None:
                os.environ["ENGRAMLOG_DATA"] = before
            process.terminate()
            process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], data: Path) -> None:
    until = monotonic() + START_SECONDS
    while not listens(data):
        if process.poll() is not None or monotonic() > until:
            raise RuntimeError("`engramlog up` did not start")
        sleep(0.05)
