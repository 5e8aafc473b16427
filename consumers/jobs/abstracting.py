"""Lifecycle jobs of which `abstract` asks a language model too, where the settings say so: what it finds is proposed.

What is shown is read off a view; the model thinks while nothing is held; what it answered is planned on the newest view. Run
again, it is asked again, and proposes nothing twice. Where it fails, what rules found stays, and the run says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs, LifecycleRun
from engramlog_server.consumers.jobs.reviewing import ReviewJob
from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.lifecycle import JOBS, Decision
from engramlog_server.projections.lifecycle.patterns import JOB, proposals, questions
from engramlog_server.projections.models.chat import Chat, ModelUsage
from engramlog_server.projections.models.patterns_by_model import Claim, claims_by
from engramlog_server.projections.views.view import OwnerView

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class AbstractionRun:
    """What a run of the other jobs did for one owner, and what a model was asked about patterns."""

    other: LifecycleRun
    model: str | None = None
    """Its name; None where none was to be asked."""
    questions: int = 0
    """Asked, or in a plan to be asked."""
    usage: ModelUsage = field(default_factory=ModelUsage)
    failure: str | None = None
    """Why the model could be asked no more, or its last answer not be used."""

    def as_dict(self) -> dict[str, Any]:
        """As of the other jobs, with `abstraction` beside."""
        told = self.other.as_dict()
        if self.model is None:
            return told
        asked = {"model": self.model, "questions": self.questions, **self.usage._asdict(), "failure": self.failure}
        return told | {"abstraction": asked}


class AbstractionJob:
    """`jobs`, which do all that rules do and perhaps review by a model; then a model is asked for patterns."""

    def __init__(self, jobs: LifecycleJobs | ReviewJob, lifecycle: LifecycleJobs, chat: Callable[[], Chat]) -> None:
        self._jobs = jobs
        self._lifecycle = lifecycle
        self._chat = chat
        self.reviewer = jobs.reviewer

    def plan(
        self, owner: str, jobs: Sequence[str] = tuple(JOBS), *, now: int | None = None, check: Check = unchecked
    ) -> AbstractionRun:
        """What the jobs would do, and how much the model would be asked; it is not."""
        planned = AbstractionRun(self._jobs.plan(owner, jobs, now=now, check=check))
        if JOB in jobs:
            planned.model = self._chat().model
            planned.questions = len(self._lifecycle.look(owner, questions, now=now, check=check))
        return planned

    def carry_out(
        self,
        owner: str,
        jobs: Sequence[str] = tuple(JOBS),
        *,
        now: int | None = None,
        on_progress: Progress = lambda _done, _total: None,
        check: Check = unchecked,
    ) -> AbstractionRun:
        """The jobs in their order, then the model. Raises as `LifecycleJobs.carry_out`, and what making the model raises."""
        done = AbstractionRun(self._jobs.carry_out(owner, jobs, now=now, on_progress=on_progress, check=check))
        if JOB in jobs:
            self._propose(done, owner, now, on_progress, check)
        return done

    def _propose(self, done: AbstractionRun, owner: str, now: int | None, on_progress: Progress, check: Check) -> None:
        chat = self._chat()
        done.model = chat.model
        asked = self._lifecycle.look(owner, questions, now=now, check=check)
        claims: list[Claim] = []
        for number, shown in enumerate(asked):
            check(number, len(asked))
            on_progress(number, len(asked))
            done.questions += 1
            try:
                found, usage = claims_by(chat, shown)
            except ModelFailed as failed:
                done.usage, done.failure = done.usage.plus(ModelUsage(*failed.usage)), failed.message
                if failed.down:
                    break
            else:
                done.usage = done.usage.plus(usage)
                claims += found
        if not claims:
            return
        texts = {one.id: one.text for shown in asked for one in shown}
        planner = partial(_proposed, claims=claims, texts=texts, model=chat.model)
        appended = self._lifecycle.carry_out_plan(owner, planner, now=now, check=check)
        done.other.decisions += appended.decisions
        done.other.appended += appended.appended
        done.other.position = appended.position or done.other.position


def _proposed(
    view: OwnerView, _now: int, *, claims: Sequence[Claim], texts: dict[str, str], model: str
) -> list[Decision]:
    return proposals(view, claims, texts, model)
