"""A door to a Redis that closes at a chosen command: whoever waits behind it stands still there, and can be killed there."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event as Flag
from threading import Thread

CHUNK = 1 << 16


class HeldDoor:
    """A unix socket that passes everything on to another one, until what is sent answers to `closes`; nothing passes since."""

    def __init__(self, target: Path, closes: Callable[[bytes], bool]) -> None:
        self._target = target
        self._closes = closes
        self._folder = Path(tempfile.mkdtemp(prefix="el-", dir="/tmp"))  # a socket's path holds 107 bytes at most
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._folder / "s"))
        self._listener.listen()
        self._open: list[socket.socket] = []
        self.closed = Flag()
        """Somebody stands before it."""
        Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """What `events.redis.server.connect` takes."""
        return f"unix://{self._folder / 's'}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(str(self._target))
                self._open += [near, far]
                Thread(target=self._pass_on, args=(near, far, True), daemon=True).start()
                Thread(target=self._pass_on, args=(far, near, False), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, asking: bool) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if asking and self._closes(data):
                    self.closed.set()
                if asking and self.closed.is_set():
                    return
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End every connection."""
        for one in (self._listener, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        shutil.rmtree(self._folder, ignore_errors=True)
