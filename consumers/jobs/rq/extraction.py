"""The extraction job: the turns of every owner, by rules, or by a language model while it answers and there is time."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from consumers.jobs.extraction import ExtractionJob
from consumers.jobs.lifecycle import LifecycleJobs
from consumers.jobs.rq.serving import JobResources
from events.errors import BadSetting, ModelFailed
from projections.embedding.likeness import Likeness
from projections.lifecycle.extracting import RULES
from projections.redis.view import RedisViews

EXTRACT_SECONDS = 240.0
"""After so long a partition's turns are left to the next run: a sweep must not wait for a whole import."""


class PartitionExtraction:
    """Extraction for the owners of one partition. Where the model fails, what is left waits for the next run."""

    def __init__(self, views: RedisViews, lifecycle: LifecycleJobs, served: JobResources) -> None:
        self._served = served
        self._chat = None if served.extraction == RULES else served.chat
        self._missing = served.extraction != RULES and served.chat is None
        if (embedders := served.embedder) is not None:
            lifecycle.alike = Likeness(lambda: embedders().bilingual())
        self._extraction = ExtractionJob(views, lifecycle, self._chat, served.seen)
        self._until = monotonic() + EXTRACT_SECONDS
        self.complete = True
        """Whether every owner was read to the end."""

    def may_begin(self) -> bool:
        """Whether there is somebody to ask; tells where the settings name nobody."""
        if self._missing:
            self._stopped("ENGRAMLOG_EXTRACTION is model, and ENGRAMLOG_MODEL is not set")
        return not self._missing and not self._rests

    @property
    def _rests(self) -> bool:
        """Whether the model failed a moment ago."""
        return self._chat is not None and self._chat.rests

    def extract(self, owner: str, go_on: Callable[..., None]) -> int:
        """What was appended for an owner; nothing once the model failed or the time is over."""
        if self._rests or self._over():
            self.complete = False
            return 0
        try:
            found = self._extraction.extract(owner, stop=self._over, on_progress=go_on)
        except BadSetting as error:  # the model cannot be made: no other owner fares better
            self._stopped(error.message)
            self.complete = False
            return 0
        self.complete = self.complete and not found.left
        if found.refused:
            turn_id, reason = next(iter(found.refused.items()))
            told = {"owner": owner, "turns": len(found.refused), "turn_id": turn_id, "reason": reason}
            self._served.tell("operations refused", alarm=True, **told)
        if found.trouble is not None:
            self._failed(owner, found.trouble)
        return found.done.appended

    def _failed(self, owner: str, trouble: ModelFailed) -> None:
        if trouble.down:
            self._stopped(trouble.message)
        else:
            self._served.tell("turns left unread", alarm=True, owner=owner, reason=trouble.message)

    def _over(self) -> bool:
        return self._served.stop.is_set() or monotonic() > self._until

    def _stopped(self, reason: str) -> None:
        if self._chat is not None:
            self._chat.failed()
        self._served.tell("extraction stopped", alarm=True, reason=reason)
