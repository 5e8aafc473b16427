"""What lies in a data folder beside Redis's own files, and where its socket goes.

store.json      which store this is and the newest server that wrote it: a server that would see less is refused
server.json     who runs Redis on the folder now; only a hint, for the locks decide (`ops.embedded_lock`)
redis.log       the server's log, from which recovery and failures are told
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Literal

import msgspec

from events.errors import EmbeddedRedisError, StoreMismatch

Role = Literal["up", "command"]

LONGEST_SOCKET = 100
"""Bytes of a socket's path; the kernel takes 107 (Linux) or 103 (macOS)."""


class StoreFile(msgspec.Struct, frozen=True, kw_only=True):
    """store.json: the store's id, its partitions and their hash tags, and the newest server that opened it ("7.0.15")."""

    store_id: str
    partitions: int
    tags: tuple[str, ...]
    newest_server_version: str


class ServerFile(msgspec.Struct, frozen=True, kw_only=True):
    """server.json: the running server's pid, socket and version, for what it runs, and the pid that started it."""

    pid: int
    socket: str
    role: Role
    ready: bool
    started_by: int
    version: str


def prepare_folder(folder: Path, *, create: bool) -> Path:
    """The folder as a resolved path, made (mode 0700) when missing and `create`. Raises EmbeddedRedisError when it cannot serve."""
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
    except (OSError, ValueError) as error:
        raise unusable(folder, error) from error
    return folder


def unusable(folder: Path, error: Exception) -> EmbeddedRedisError:
    """The error of a folder that cannot be made, read or written."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return EmbeddedRedisError(
        f"the data folder {folder} cannot be used: {reason}; give its owner the right to write there, or name another folder",
        folder=str(folder),
    )


def read_store_file(folder: Path) -> StoreFile | None:
    """store.json, or None when the folder has none. Raises StoreMismatch when it cannot be understood."""
    path = folder / "store.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=StoreFile)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise StoreMismatch(
            f"{path} is damaged ({error}); restore it from a backup, or, if you are sure that this folder holds your store, "
            "move it away: the next start writes it anew from the store itself",
            folder=str(folder),
        ) from error


def write_store_file(folder: Path, store: StoreFile) -> None:
    """Replace store.json as a whole: after a crash it is the old one or the new one."""
    _replace(folder / "store.json", msgspec.json.format(msgspec.json.encode(store), indent=2) + b"\n")


def read_server_file(folder: Path) -> ServerFile | None:
    """server.json, or None when there is none that can be understood: it is only a hint."""
    try:
        return msgspec.json.decode((folder / "server.json").read_bytes(), type=ServerFile)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def write_server_file(folder: Path, server: ServerFile) -> None:
    """Replace server.json as a whole, so that a reader never sees half of it."""
    _replace(folder / "server.json", msgspec.json.encode(server) + b"\n")


def remove_server_file(folder: Path) -> None:
    """Say that nobody runs Redis here; only the holder of the folder's lock may."""
    (folder / "server.json").unlink(missing_ok=True)


def _replace(path: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def socket_path(folder: Path) -> Path:
    """Where the server of `folder` listens: in the folder, or in a short private run-time folder when that path is too long.

    The run-time folder lies in XDG_RUNTIME_DIR or the system's temporary folder and is named after the user and a hash of the
    data folder's path, so no two folders share one. Raises EmbeddedRedisError when it exists and belongs to somebody else.
    """
    inside = folder / "redis.sock"
    if len(os.fsencode(inside)) <= LONGEST_SOCKET:
        return inside
    name = f"engramlog-{os.geteuid()}-{hashlib.blake2b(os.fsencode(folder), digest_size=8).hexdigest()}"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    bases = [*([runtime] if runtime else []), tempfile.gettempdir(), "/tmp"]  # noqa: S108 - the folder below is private
    for base in map(Path, bases):
        socket = base / name / "redis.sock"
        if len(os.fsencode(socket)) <= LONGEST_SOCKET and base.is_dir() and os.access(base, os.W_OK | os.X_OK):
            _make_private(socket.parent)
            return socket
    raise EmbeddedRedisError(
        f"no short folder for the socket of {folder}: set XDG_RUNTIME_DIR or TMPDIR to a folder of at most 50 bytes",
        folder=str(folder),
    )


def remove_socket(folder: Path, socket: Path) -> None:
    """Take away the socket, and the run-time folder made for it."""
    socket.unlink(missing_ok=True)
    if socket.parent != folder and socket.parent.is_dir():
        socket.parent.rmdir()


def _make_private(path: Path) -> None:
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise EmbeddedRedisError(
            f"{path} is not a private folder of this user, so a socket there would not be safe; remove it and try again"
        )
