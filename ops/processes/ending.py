"""The end of a process: within five seconds of SIGTERM or SIGINT, whatever it does.

A process ends in order if it can. It cannot while Redis does not answer, while a store loads, or while one question computes. All
processes can be killed anywhere: acknowledged events are on disk, leases run out, jobs run again, and children notice that their
parent is gone. So every wait has a bound.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from threading import Event as Flag
from threading import Thread
from typing import NamedTuple, NoReturn

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
