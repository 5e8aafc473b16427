"""The hourly reviews by a language model: while it answers and there is time; the rest of the lifecycle does not wait for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from consumers.fold.folder import Tell
from consumers.jobs.lifecycle import LifecycleJobs, LifecycleRun
from consumers.jobs.reviewing import REVIEW, ReviewJob
from consumers.jobs.rq.lent import Lent
from events.errors import BadSetting
from projections.lifecycle.reviewing_by_model import ModelReviewer
from projections.models.chat import Chat

REVIEW_SECONDS = 180.0
"""After so long a partition's reviews are left to the next run: the jobs of other partitions wait for this one."""


class ReviewedByModel:
    """`LifecycleJobs.carry_out` for the owners of one partition, with a model as reviewer. Where it fails, nothing is reviewed."""

    def __init__(self, lifecycle: LifecycleJobs, chat: Lent[Chat], tell: Tell) -> None:
        self._lifecycle = lifecycle
        self._chat = chat
        self._tell = tell
        self._until = monotonic() + REVIEW_SECONDS
        self._reviewing = ReviewJob(lifecycle, lambda: ModelReviewer(chat()), "model", tell, self._spent)

    def carry_out(self, owner: str, jobs: Sequence[str], *, on_progress: Callable[[int, int], None]) -> LifecycleRun:
        """The jobs; without the review where the model rests, or the time is over."""
        if self._chat.rests or self._spent():
            others = [name for name in jobs if name != REVIEW]
            return self._lifecycle.carry_out(owner, others, on_progress=on_progress)
        try:
            done = self._reviewing.carry_out(owner, jobs, on_progress=on_progress)
        except BadSetting as error:  # the model cannot be made: what came before the review is done
            self._stopped(error.message)
            return LifecycleRun(owner)
        if done.down:
            self._stopped(done.failure or "")
        return done

    def _spent(self) -> bool:
        return monotonic() > self._until

    def _stopped(self, reason: str) -> None:
        self._chat.failed()
        self._tell("reviewing stopped", alarm=True, reason=reason)
