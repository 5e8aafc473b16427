"""Memory that is free is given back to the system, where the C library can."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from engramlog_server.ops.processes.life import give_back
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
HOLES = """
from pathlib import Path
from resource import getpagesize
from engramlog_server.ops.processes.life import give_back

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize()

held = [bytes(4_096) for _ in range(50_000)]
full = resident()
held = held[-1:]  # what was made last keeps the allocator from giving back all that lies below it
freed = resident()
give_back()
print(full - freed, full - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives memory back when told to")
def test_what_lies_free_below_something_in_use_is_given_back() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", HOLES], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    by_itself, when_told = map(int, ran.stdout.split())
    assert by_itself < 50_000_000
    assert when_told > 150_000_000


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    monkeypatch.setattr("ctypes.CDLL", lambda *_: pytest.fail("it was asked"))
    give_back()
