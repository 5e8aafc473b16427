"""The end of a job worker's process: within a second of SIGTERM, whatever its job is in the middle of.

A job gives itself up between owners and requests. It cannot while it waits for a model, for folding or for Redis, or computes
one large owner's state. All jobs can be killed anywhere and run again, so nothing is waited for: after a moment the job goes
back to the queue and the process ends, as if it had been killed, but for the minute until another would have noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event as Flag

import redis

from consumers.jobs.worker import JobWorker
from events.errors import StoreError
from ops.processes.ending import end_by_signal

GRACE_SECONDS = 0.5
"""How long a job may take to give itself up."""


class Ending:
    """Has the process end at SIGTERM or SIGINT. A job that is cut off is given back for as long as the cutting off may take
    (`ops.processes.ending`); where the queue's Redis takes longer, another worker finds it after a minute."""

    def __init__(self, stop: Flag, tell: Callable[..., None]) -> None:
        self._stop = stop
        self._tell = tell
        self.worker: JobWorker | None = None
        self.leave: Callable[[], None] = lambda: None
        """Has another lead the schedule."""

    def arm(self) -> None:
        """Begin. In the main thread, as Python has it."""
        end_by_signal(lambda _number: self._stop.set(), cut_off=self._cut_off, patient_seconds=GRACE_SECONDS)

    def _cut_off(self) -> None:
        self._tell("job worker stopped", in_the_middle=True)
        self._give_back()

    def _give_back(self) -> None:
        try:
            for job_id in self.worker.give_back() if self.worker is not None else ():
                self._tell("job given back", job=job_id)
            self.leave()
        except (StoreError, redis.RedisError, OSError) as error:
            self._tell("job not given back", reason=type(error).__name__)
