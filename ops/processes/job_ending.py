"""The end of a job worker's process: within a second of SIGTERM, whatever its job is in the middle of.

A job gives itself up between owners and requests. It cannot while it waits for a model, for folding or for Redis, or computes
one large owner's state. All jobs can be killed anywhere and run again, so nothing is waited for: after a moment the job goes
back to the queue and the process ends, as if it had been killed, but for the minute until another would have noticed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from threading import Event as Flag
from threading import Thread
from typing import NoReturn

import redis

from consumers.jobs.rq.work import JobWorker
from events.errors import StoreError

GRACE_SECONDS = 0.5
"""How long a job may take to give itself up."""
GIVE_BACK_SECONDS = 0.3
"""How long the queue's Redis may take to take it back; else another worker finds it after a minute."""
SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT})


class Ending:
    """Waits for SIGTERM or SIGINT in a thread of its own, then has the process end."""

    def __init__(self, stop: Flag, tell: Callable[..., None]) -> None:
        self._stop = stop
        self._tell = tell
        self.worker: JobWorker | None = None
        self.leave: Callable[[], None] = lambda: None
        """Has another lead the schedule."""

    @staticmethod
    def over() -> NoReturn:
        """All is done in order: go. What Python tears down at an exit takes half a second, and nobody needs it."""
        sys.stderr.flush()
        os._exit(0)

    def arm(self) -> None:
        """Begin. In the main thread, as Python has it.

        The signal reaches the thread by a pipe: a handler would run between two steps of the main thread, and not at all while
        that is in a library's code, and could set no flag that the main thread holds just then.
        """
        read, write = os.pipe()
        os.set_blocking(write, False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        Thread(target=self._wait, args=(read,), name="ending", daemon=True).start()

    def _wait(self, pipe: int) -> None:
        while not SIGNALS & set(os.read(pipe, 64)):
            """Another signal, such as a job's time limit."""
        self._stop.set()
        Flag().wait(GRACE_SECONDS)  # in which the process is expected to be over
        giving = Thread(target=self._give_back, name="giving back", daemon=True)
        giving.start()
        giving.join(GIVE_BACK_SECONDS)
        self._tell("job worker stopped", in_the_middle=True)
        os._exit(0)

    def _give_back(self) -> None:
        try:
            for job_id in self.worker.give_back() if self.worker is not None else ():
                self._tell("job given back", job=job_id)
            self.leave()
        except (StoreError, redis.RedisError, OSError) as error:
            self._tell("job not given back", reason=type(error).__name__)
