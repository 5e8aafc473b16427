"""The alarm `jobs_wait`: the scheduler reports each use of the job queue, and each failure."""

from __future__ import annotations

from time import monotonic

from events.alarms import JOBS_WAIT, Alarms

PATIENT_SECONDS = 5.0
"""So long a failover or a restart may take before it is an alarm."""


class QueueWatch:
    """Raises an alarm once the queue could not be used for a while, and clears it at the first look that succeeds."""

    def __init__(self, alarms: Alarms, patient_seconds: float = PATIENT_SECONDS) -> None:
        self._alarms = alarms
        self._patient_seconds = patient_seconds
        self._since: float | None = None
        self._unclear = True
        """Whether an alarm of this process, or of one before it, may stand."""

    def failed(self, reason: str) -> None:
        """It could not be used just now."""
        self._since = self._since or monotonic()
        if monotonic() - self._since >= self._patient_seconds:
            self._unclear = True
            self._alarms.raised(JOBS_WAIT, "", reason)

    def worked(self) -> None:
        """It was used just now."""
        self._since = None
        if self._unclear:
            self._unclear = False
            self._alarms.cleared(JOBS_WAIT)
