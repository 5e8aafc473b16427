"""The life of a process: its name as a worker, its limits, and its end within five seconds of SIGTERM or SIGINT.

Open files are raised to what the machine allows, and garbage is looked for seldom. The memory of a heavy question is given back:
the allocator would keep it for the next one.

A process ends in order if it can. It cannot while Redis does not answer, while a store loads, or while one question computes. All
processes can be killed anywhere: acknowledged events are on disk, leases run out, jobs run again, and children notice that their
parent is gone. So every wait has a bound.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from threading import Event as Flag
from threading import Thread
from typing import NamedTuple, NoReturn
from uuid import uuid4

ENOUGH = 1_048_576
"""Where there is no limit at all."""


FEW_FILES = 2_000
"""Fewer open files leave fewer than a thousand connections."""


def raise_file_limit() -> int:
    """Raise the limit of open files, connections among them, to the hard one; what it is now. Children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else hard
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return ENOUGH if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # some systems allow less than they say
        return soft
    return wanted


def give_back() -> None:
    """Hand free memory back to the system. Milliseconds, without Python's lock; nothing happens where there is no glibc."""
    trim = _trim()
    if trim is not None:
        trim(0)


def _trim() -> Callable[[int], int] | None:
    """glibc's `malloc_trim`; None on any other C library."""
    import ctypes  # noqa: PLC0415 - a command that ends soon gives nothing back
    import platform  # noqa: PLC0415 - the same

    if platform.libc_ver()[0] != "glibc":
        return None
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return trim


TUNABLES = "GLIBC_TUNABLES"
OVERWRITING = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"
"""Freed memory is overwritten, and threads keep no freed blocks of their own, which are not."""


def overwrite_freed_memory() -> None:
    """Begin this program again, as the same process, with an allocator that overwrites what is freed: words that were erased do not
    stay in the memory of a process that goes on. Nothing happens the second time, for open stores, and where there is no glibc."""
    import platform  # noqa: PLC0415 - only a service needs it

    tunables = os.environ.get(TUNABLES, "")
    if tunables.endswith(OVERWRITING):
        os.environ[TUNABLES] = tunables.removesuffix(OVERWRITING).rstrip(":")  # not for processes that this one starts
    elif platform.libc_ver()[0] == "glibc" and os.environ.get("ENGRAMLOG_SEALED_BY") != "none":
        tunables = ":".join(filter(None, (tunables, OVERWRITING)))
        arguments = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, arguments, {**os.environ, TUNABLES: tunables})  # noqa: S606 - this very program


OBJECTS = 150_000
"""New objects after which garbage is looked for first: a search makes 110,000, imports most of them, and none is garbage."""


USUAL = gc.get_threshold()


def look_seldom() -> None:
    """Until `started`, or for the rest of this process."""
    gc.set_threshold(OBJECTS, *USUAL[1:])


def started() -> None:
    """From here on as Python does, but not among what the start made: modules and classes stay until the end."""
    gc.freeze()
    gc.set_threshold(*USUAL)


END_SECONDS = 5.0
"""Seconds after the signal until a process is gone."""
PATIENT_SECONDS = 4.4
"""How long a process may take to end in order."""
CUT_OFF_SECONDS = 0.3
"""How long the final report may take after that."""
PARENT_SECONDS = 0.5
"""How often it is looked whether the parent lives."""
SIGNALS = (signal.SIGTERM, signal.SIGINT)


class EndBounds(NamedTuple):
    """Seconds after the signal by which each part of `up` must end; then it is abandoned or killed."""

    api: float = 1.5
    jobs: float = 2.5
    drain: float = 3.0
    heads: float = 3.4
    workers: float = 4.0


def nothing() -> None:
    """Do nothing."""


def over() -> NoReturn:
    """Exit at once after an orderly end: Python's own teardown takes seconds under load, and has no use."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def end_by_signal(
    begin: Callable[[int], None],
    *,
    cut_off: Callable[[], None] = nothing,
    exit_code: int | None = 0,
    patient_seconds: float = PATIENT_SECONDS,
) -> None:
    """Call `begin` with the signal's number in a thread at the first SIGTERM or SIGINT. For the main thread.

    If the process still lives after `patient_seconds`, `cut_off` is called and the process exits with `exit_code`, or with 128
    plus the signal's number if that is None.

    The signal reaches the thread through a pipe: a handler would run between two steps of the main thread, not at all while that
    is in a library's code, and could wait forever for a lock that the main thread holds.
    """
    heard, tell = os.pipe()
    os.set_blocking(tell, False)
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)

    def wait() -> None:
        while (number := os.read(heard, 1)[0]) not in SIGNALS:
            """Another signal, such as a job's time limit."""
        Thread(target=begin, args=(number,), name="ending", daemon=True).start()
        Flag().wait(patient_seconds)
        last = Thread(target=cut_off, name="cut off", daemon=True)
        last.start()
        last.join(CUT_OFF_SECONDS)
        os._exit(128 + number if exit_code is None else exit_code)

    Thread(target=wait, name="end", daemon=True).start()


def end_with(parent: int) -> None:
    """Have this process told to end once its parent is gone: a killed `up` leaves no worker behind."""

    def follow() -> None:
        pause = Flag()
        while os.getppid() == parent:
            pause.wait(PARENT_SECONDS)
        signal.raise_signal(signal.SIGTERM)

    Thread(target=follow, name="parent", daemon=True).start()


def new_worker_id() -> str:
    """A name that no other worker has."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:6]}"
