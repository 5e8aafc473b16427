"""Processes of one kind that `up` starts and keeps running."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic

RESTART_SECONDS = 1.0
PAUSE_SECONDS = 5.0
"""How long processes may take to hand over before a pause."""
Tell = Callable[..., None]


class Workers:
    """Processes of one kind; one that dies is started again."""

    def __init__(self, kind: str, commands: Sequence[Sequence[str]], tell: Tell, environment: dict[str, str]) -> None:
        """`commands`: the command line of each process."""
        self._kind = kind
        self._commands = [list(command) for command in commands]
        self._environment = environment
        self._tell = tell
        self._running: list[subprocess.Popen[bytes]] = [self._start(command) for command in self._commands]
        self._not_before = 0.0

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, env=self._environment, stdin=subprocess.DEVNULL, start_new_session=True)
        self._tell(f"{self._kind} process started", pid=process.pid)
        return process

    def tend(self) -> None:
        """Restart processes that died, at most one per second."""
        for number, process in enumerate(self._running):
            if process.poll() is not None and monotonic() >= self._not_before:
                self._not_before = monotonic() + RESTART_SECONDS
                self._tell(f"{self._kind} process died", pid=process.pid, exit_code=process.returncode, alarm=True)
                self._running[number] = self._start(self._commands[number])

    def pause(self, *, paused: bool) -> None:
        """Stop all processes for a while, or start them again."""
        if paused and self._running:
            self.stop(PAUSE_SECONDS)
            self._running = []
            self._tell(f"{self._kind} processes paused")
        elif not paused and not self._running:
            self._running = [self._start(command) for command in self._commands]

    def replace(self) -> None:
        """Have every process hand over and end, and start another in its place."""
        if self._running:
            self.stop(PAUSE_SECONDS)
            self._running = [self._start(command) for command in self._commands]
            self._tell(f"{self._kind} processes replaced")

    def kill(self) -> None:
        """Kill all processes."""
        for process in self._running:
            with suppress(ProcessLookupError):
                process.kill()

    def stop(self, seconds: float) -> None:
        """Ask every process to hand over and end; kill those that have not after so many seconds."""
        for process in self._running:
            with suppress(ProcessLookupError):
                process.terminate()
        end = monotonic() + seconds
        for process in self._running:
            try:
                process.wait(timeout=max(end - monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                self._tell(f"{self._kind} process killed", pid=process.pid, reason="did not stop in time", alarm=True)
                process.kill()
                process.wait()
