"""Memories that were appended raw are judged at once, by a thread of the process that leads the schedule.

An append notes the memories to be judged, and the note wakes the thread (`projections.redis.unjudged`). A raw memory waits for no
tick, no other job and no start of a worker: only until it is folded, and for raw memories that were noted before it. The job
`judge` does the same for what a thread that died left behind.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from time import monotonic

from engramlog_server.consumers.jobs.kinds import judge
from engramlog_server.consumers.jobs.linking import folded_to
from engramlog_server.consumers.jobs.opened import GivenUp, JobResources, OpenedStore
from engramlog_server.events.errors import EngramlogError

MOST_AT_ONCE = 200
"""Raw events of a partition that are judged before other partitions have their turn."""
WAIT_SECONDS = 0.5
"""How long it waits for a note before it looks again whether this process leads."""
SOONEST_SECONDS, LATEST_SECONDS = 0.05, 5.0
"""How long it waits before it tries again what is not folded yet, or failed: each time twice as long. A note ends the wait."""


class RawMemories:
    """Judges raw memories while this process leads, from a thread of its own."""

    def __init__(self, resources: JobResources, store_id: str, leads: Callable[[], bool]) -> None:
        """`leads`: whether this process leads the schedule. The thread also ends if the resources' `stop` is set."""
        self._resources = resources
        self._store_id = store_id
        self._leads = leads
        self._opened: OpenedStore | None = None
        self._again = SOONEST_SECONDS
        self._trouble = ""
        self._thread = Thread(target=self._run, name="raw memories", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, seconds: float | None = None) -> None:
        """Set the resources' `stop` and wait for the thread's end, at most so many seconds. Idempotent."""
        self._resources.stop.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        stop = self._resources.stop
        while not stop.is_set():
            try:
                if self._leads():
                    self.judge()
                else:
                    self._close()
                    stop.wait(WAIT_SECONDS)
            except GivenUp:
                break
            except Exception as error:  # noqa: BLE001 - the thread's end would leave raw memories to a job every five minutes
                self._close()
                self._report(error)
                stop.wait(WAIT_SECONDS)
            else:
                self._trouble = ""
        self._close()

    def judge(self) -> None:
        """Judge what waits, or wait for a note. Raises what the store raises, and GivenUp."""
        opened = self._opened = self._opened or OpenedStore(self._resources, self._store_id, f"job:{judge.JUDGE}")
        unjudged, began = opened.views.unjudged, monotonic()
        notes = unjudged.notes()
        waiting = unjudged.waiting()
        runs = [
            judge.run(opened, partition, MOST_AT_ONCE, folded_to(opened.wire, opened.tags[partition]))
            for partition in waiting
        ]
        if any(walked.owners > walked.failed for walked in runs):
            self._again = SOONEST_SECONDS
            self._resources.stop.wait(
                min(monotonic() - began, WAIT_SECONDS)
            )  # of one process others have half of the time
        elif waiting:
            unjudged.wait(notes, self._again)
            self._again = min(2 * self._again, LATEST_SECONDS)
        else:
            self._again = SOONEST_SECONDS
            unjudged.wait(notes, WAIT_SECONDS)

    def _report(self, error: Exception) -> None:
        reason = error.message if isinstance(error, EngramlogError) else type(error).__name__
        if reason != self._trouble:
            self._trouble = reason
            self._resources.tell("raw memories wait", reason=reason, alarm=not isinstance(error, EngramlogError))

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None
