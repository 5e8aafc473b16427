"""The job of what sessions leave behind: owner by owner, while there is time, and while a model that is to write answers."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from consumers.jobs.episodes import MODEL, EpisodeJob
from consumers.jobs.rq.serving import JobResources
from events.errors import BadSetting
from events.log import EventLog
from projections.redis.view import RedisViews

EPISODES_SECONDS = 240.0
"""After so long a partition's owners are left to the next run: a sweep must not wait for a whole import."""


class PartitionEpisodes:
    """Episodes and uses for the owners of one partition. Where the model fails, what is left waits for the next run."""

    def __init__(self, log: EventLog, views: RedisViews, served: JobResources) -> None:
        self._served = served
        self._chat = served.chat if served.summaries == MODEL else None
        self.job = EpisodeJob(log, views, chat=self._chat, seen=served.looked_at)
        self._until = monotonic() + EPISODES_SECONDS

    @property
    def rests(self) -> bool:
        """Whether the model failed a moment ago."""
        return self._chat is not None and self._chat.rests

    def leave(self, owner: str, go_on: Callable[..., None]) -> int:
        """What was appended for an owner; nothing once the model failed or the time is over."""
        if self.rests or monotonic() > self._until:
            return 0
        try:
            left = self.job.carry_out(owner, on_progress=go_on)
        except BadSetting as error:  # the model cannot be made: no other owner fares better
            self._stopped(error.message)
            return 0
        if left.refused:
            self._served.tell("summaries refused", owner=owner, refused=left.refused, by_model=left.by_model)
        if left.down:
            self._stopped(left.failure or "no answer")
        return left.appended

    def _stopped(self, reason: str) -> None:
        if self._chat is not None:
            self._chat.failed()
        self._served.tell("summarising stopped", alarm=True, reason=reason)
