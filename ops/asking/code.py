"""Which code a process runs: a service answers for commands of the very same alone."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGES = ("events", "projections", "consumers", "api", "ops")
ROOT = Path(__file__).resolve().parents[2]


def code_here() -> str:
    """Where our code lies and when it was changed last, as one text; milliseconds."""
    return f"{ROOT}@{max(_newest(os.fspath(ROOT / name)) for name in PACKAGES)}"


def _newest(folder: str) -> int:
    """Of a folder and those below it: when a file of Python was written last, in nanoseconds."""
    newest = 0
    with os.scandir(folder) as found:
        for one in found:
            if one.name.endswith(".py"):
                newest = max(newest, one.stat(follow_symlinks=False).st_mtime_ns)
            elif one.name.isidentifier() and one.name != "__pycache__" and one.is_dir(follow_symlinks=False):
                newest = max(newest, _newest(one.path))
    return newest
