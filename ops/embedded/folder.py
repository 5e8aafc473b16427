"""What lies in a data folder beside Redis's own files.

store.json      which store this is and the newest server that opened it, its product and version (`ops.embedded.store`)
server.json     who runs Redis on the folder now; only a hint, for the locks decide (`ops.embedded.lock`)
redis.log       the server's log, from which recovery and failures are told
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Literal

import msgspec

from engramlog_server.events.errors import EmbeddedRedisError
from engramlog_server.events.redis.server import Product
from engramlog_server.events.text import UNREADABLE
from engramlog_server.ops.durable import replace_file
from engramlog_server.ops.embedded.disk import told_if_full

Role = Literal["up", "shared", "command"]
"""What runs the server: `engramlog up`, a process that lives long and lets others join it meanwhile, or one command."""


class ServerFile(msgspec.Struct, frozen=True, kw_only=True):
    """server.json: the running server's pid, socket and release, for what it runs, and the pid that started it."""

    pid: int
    socket: str
    role: Role
    ready: bool
    started_by: int
    version: str
    product: Product


def prepare_folder(folder: Path, *, create: bool) -> Path:
    """The folder as a resolved path, made (mode 0700) when missing and `create`.

    Raises EmbeddedRedisError when it cannot serve.
    """
    try:
        folder = folder.expanduser().resolve()
        if folder.exists() and not folder.is_dir():
            raise EmbeddedRedisError(f"{folder} is a file, not a data folder; name a folder", folder=str(folder))
        if not folder.exists() and not create:
            raise EmbeddedRedisError(
                f"there is no data folder {folder}; start `engramlog up` on it once, or name the right one",
                folder=str(folder),
            )
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise unusable(folder, error) from error
    return folder


class UnusableFolder(EmbeddedRedisError):
    """The data folder cannot be made, read or written: bad input, since ENGRAMLOG_DATA names it."""

    status = 422
    exit_code = 2


def unusable(folder: Path, error: Exception) -> EmbeddedRedisError:
    """The error of a folder that cannot be made, read or written."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EmbeddedRedisError(
            f"the data folder {folder} cannot be used: {reason}{told_if_full(folder)}", folder=str(folder)
        )
    return UnusableFolder(
        f"the data folder {folder} cannot be used: {reason}; make it writable for this user, or name another folder",
        folder=str(folder),
    )


def read_server_file(folder: Path) -> ServerFile | None:
    """server.json, or None when there is none that can be understood: it is only a hint."""
    try:
        return msgspec.json.decode((folder / "server.json").read_bytes(), type=ServerFile)
    except (FileNotFoundError, *UNREADABLE):
        return None


def write_server_file(folder: Path, server: ServerFile) -> None:
    """Replace server.json as a whole, so that a reader never sees half of it."""
    replace_file(folder / "server.json", msgspec.json.encode(server) + b"\n")


def remove_server_file(folder: Path) -> None:
    """Say that nobody runs Redis here; only the holder of the folder's lock may."""
    (folder / "server.json").unlink(missing_ok=True)
