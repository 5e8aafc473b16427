"""Levels, deletions that are due, purges and reviews of every owner; and vectors of purged memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from engramlog_server.consumers.jobs.embedding import EmbeddingJob
from engramlog_server.consumers.jobs.lifecycle import RULE, LifecycleRun
from engramlog_server.consumers.jobs.opened import Lent, OpenedStore, Walked, model_stopped
from engramlog_server.consumers.jobs.reviewing import REVIEW, ReviewJob
from engramlog_server.events.errors import BadSetting
from engramlog_server.projections.lifecycle.reviewing_by_model import ModelReviewer
from engramlog_server.projections.models.chat import Chat

UPKEEP_JOBS = ("sweep", "review")
"""Names in `projections.lifecycle.JOBS`."""
REVIEW_SECONDS = 180.0
"""After so long a partition's reviews are left to the next run: the jobs of other partitions wait for this one."""


def run(opened: OpenedStore, partition: int) -> Walked:
    """The lifecycle, then vectors of purged memories, which are removed also if nothing is embedded any more."""
    walked = lifecycle(opened, partition, UPKEEP_JOBS)
    if opened.vectors.models():
        EmbeddingJob(opened.vectors, None, opened.served.tell).walk(partition, stop=opened.served.stop.is_set)
    return walked


def lifecycle(opened: OpenedStore, partition: int, jobs: Sequence[str], failed: set[str] | None = None) -> Walked:
    """The lifecycle jobs for every owner of a partition; owners with a failure are added to `failed`."""
    carry_out: Callable[..., LifecycleRun] = opened.lifecycle.carry_out
    if REVIEW in jobs and opened.served.reviewer != RULE and (chat := opened.served.chat) is not None:
        carry_out = ReviewedByModel(opened, chat).carry_out

    def do(owner: str, go_on: Callable[..., None]) -> int:
        return carry_out(owner, jobs, on_progress=go_on).appended

    return opened.each_owner(partition, do, failed=failed)


class ReviewedByModel:
    """`LifecycleJobs.carry_out` with a model as reviewer, while it answers and there is time. Without it nothing is reviewed."""

    def __init__(self, opened: OpenedStore, chat: Lent[Chat]) -> None:
        self._served = opened.served
        self._lifecycle = opened.lifecycle
        self._chat = chat
        self._until = monotonic() + REVIEW_SECONDS
        self._reviewing = ReviewJob(
            self._lifecycle, lambda: ModelReviewer(chat()), "model", self._served.tell, self._spent
        )

    def carry_out(self, owner: str, jobs: Sequence[str], *, on_progress: Callable[[int, int], None]) -> LifecycleRun:
        """The jobs; without the review if the model rests, or the time is over."""
        if self._chat.rests or self._spent():
            others = [name for name in jobs if name != REVIEW]
            return self._lifecycle.carry_out(owner, others, on_progress=on_progress)
        try:
            done = self._reviewing.carry_out(owner, jobs, on_progress=on_progress)
        except BadSetting as error:  # the model cannot be made: what came before the review is done
            model_stopped(self._served, self._chat, "reviewing", error.message)
            return LifecycleRun(owner)
        if done.down:
            model_stopped(self._served, self._chat, "reviewing", done.failure or "")
        return done

    def _spent(self) -> bool:
        return monotonic() > self._until
