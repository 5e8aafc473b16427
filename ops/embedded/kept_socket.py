"""A second name for the socket's file, from which it is put back when somebody removes it.

Redis goes on listening on a socket whose file is gone, and nobody can connect to it any more: cleaners of
temporary folders do that.
A hard link names the same socket (Linux and macOS), so connecting through it reaches the same server.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

KEPT = "redis.sock.kept"
Found = Literal["there", "mended", "lost"]


class KeptSocket:
    """The socket of a running server, and its second name: in the data folder, or beside it where that is another file system."""

    def __init__(self, folder: Path, socket: Path) -> None:
        """Make the second name. Where the file system knows no hard links to sockets, a removed one is only noticed."""
        self._socket = socket
        self._inode = _inode(socket)
        self._kept: Path | None = None
        for place in kept_names(folder, socket):
            try:
                place.unlink(missing_ok=True)
                os.link(socket, place)
            except OSError:
                continue
            self._kept = place
            return

    def tend(self) -> Found:
        """Put the socket's file back where it is gone or another lies in its place; `lost` where that cannot be done."""
        if _inode(self._socket) == self._inode:
            return "there"
        if self._kept is None or _inode(self._kept) != self._inode:
            return "lost"
        fresh = self._socket.with_name(f"{self._socket.name}.new")
        try:
            fresh.unlink(missing_ok=True)
            os.link(self._kept, fresh)
            fresh.replace(self._socket)
        except OSError:
            return "lost"
        return "mended"


def kept_names(folder: Path, socket: Path) -> tuple[Path, ...]:
    """Where the second name may lie."""
    return tuple(dict.fromkeys((folder / KEPT, socket.with_name(KEPT))))


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
