"""How long a service stays that a client started: until nobody asked for a while nor uses its Redis, or somebody wants an `up`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ops.embedded.wanted import is_used, is_wanted
from ops.processes.folder_socket import FolderSocket


class Stay:
    """Tells when a service that was started for clients is to end."""

    def __init__(self, folder: Path, socket: FolderSocket, idle_seconds: float) -> None:
        self._folder = folder
        self._socket = socket
        self._idle_seconds = idle_seconds

    def over(self, unasked_seconds: Callable[[], float]) -> str | None:
        """Why it is to end now; None while it stays. `unasked_seconds`: since the last request was over, 0 during one."""
        if is_wanted(self._folder):
            return "an `engramlog up` wants the store"
        if not self._socket.is_there():
            return f"{self._socket.path} was removed: nobody can find this service any more"
        if unasked_seconds() > self._idle_seconds and not is_used(self._folder):
            return f"nobody has asked for {self._idle_seconds:g} s"
        return None
