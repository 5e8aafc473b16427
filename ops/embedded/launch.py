"""Become redis-server, tied to the life of the thread that started us: arguments are our parent's pid and the command.

Run by path with `python -I -S`, so it imports nothing but the standard library. A step of its own because Linux ties a
process to its parent only from the inside (prctl), and running Python between fork and exec of a process with threads
can hang. Elsewhere than on Linux there is no such tie; there the next opener ends an orphan (`ops.embedded.lock`).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Ask for SIGKILL at the parent's death, then exec; exit at once if the parent has died before it was asked."""
    parent, command = int(arguments[0]), arguments[1:]
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        # SIGKILL, for a server in a long script would not hear SIGTERM; with appendfsync always it loses nothing.
        prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
    if os.getppid() != parent:
        sys.exit(f"the process {parent} that started this redis-server is gone; not starting")
    os.execv(command[0], command)  # noqa: S606 - exec without a shell is the point


if __name__ == "__main__":
    main(sys.argv[1:])
