"""Lifecycle jobs of which `merge` and `abstract` ask a language model too, where the settings say so.

What is shown is read off a view; the model thinks while nothing is held; what it answered is planned on the newest view. Run
again, it is asked again, and decides nothing twice. Where it fails, what rules found stays, and the run says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs, LifecycleRun
from engramlog_server.consumers.jobs.reviewing import ReviewJob
from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.lifecycle import JOBS, MERGE, Decision
from engramlog_server.projections.lifecycle.merging import alike_statements, merges_by_model, said_alike
from engramlog_server.projections.lifecycle.patterns import JOB as ABSTRACT
from engramlog_server.projections.lifecycle.patterns import proposals, questions
from engramlog_server.projections.models.chat import Chat, ModelUsage
from engramlog_server.projections.models.patterns_by_model import Claim, ShownMemory, claims_by
from engramlog_server.projections.views.view import OwnerView

Progress = Callable[[int, int], None]
Question = tuple[ShownMemory, ...]


class _Asking(NamedTuple):
    """How a job asks a model."""

    questions: Callable[[OwnerView, int], list[Question]]
    ask: Callable[[Chat, Question], tuple[list[Claim], ModelUsage]]
    decide: Callable[[OwnerView, Sequence[Claim], dict[str, str], str], list[Decision]]
    """What follows from the claims: of the view, the claims, what was shown by id, and the model."""


ASKING: Mapping[str, _Asking] = {
    MERGE: _Asking(alike_statements, said_alike, merges_by_model),
    ABSTRACT: _Asking(questions, claims_by, proposals),
}
"""In the order in which they ask."""


@dataclass(slots=True)
class AbstractionRun:
    """What a run of the other jobs did for one owner, and what a model was asked about merges and patterns."""

    other: LifecycleRun
    model: str | None = None
    """Its name; None where none was to be asked."""
    questions: int = 0
    """Asked, or in a plan to be asked."""
    usage: ModelUsage = field(default_factory=ModelUsage)
    failure: str | None = None
    """Why the model could be asked no more, or its last answer not be used."""
    down: bool = False
    """Whether its endpoint failed."""

    def as_dict(self) -> dict[str, Any]:
        """As of the other jobs, with `abstraction` beside."""
        told = self.other.as_dict()
        if self.model is None:
            return told
        asked = {"model": self.model, "questions": self.questions, **self.usage._asdict(), "failure": self.failure}
        return told | {"abstraction": asked}


class AbstractionJob:
    """`jobs`, which do all that rules do and perhaps review by a model; then a model is asked for merges and patterns."""

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
        for asking in _named(jobs):
            planned.model = self._chat().model
            planned.questions += len(self._questions(asking, owner, now, check))
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
        for asking in _named(jobs):
            self._ask(asking, done, owner, now, on_progress, check)
            if done.down:
                break
        return done

    def _questions(self, asking: _Asking, owner: str, now: int | None, check: Check) -> list[Question]:
        return self._lifecycle.look(owner, self._lifecycle.comparing(asking.questions), now=now, check=check)

    def _ask(
        self, asking: _Asking, done: AbstractionRun, owner: str, now: int | None, on_progress: Progress, check: Check
    ) -> None:
        chat = self._chat()
        done.model = chat.model
        asked = self._questions(asking, owner, now, check)
        claims: list[Claim] = []
        for number, shown in enumerate(asked):
            check(number, len(asked))
            on_progress(number, len(asked))
            done.questions += 1
            try:
                found, usage = asking.ask(chat, shown)
            except ModelFailed as failed:
                done.usage, done.failure = done.usage.plus(ModelUsage(*failed.usage)), failed.message
                if failed.down:
                    done.down = True
                    break
            else:
                done.usage = done.usage.plus(usage)
                claims += found
        if not claims:
            return
        texts = {one.id: one.text for shown in asked for one in shown}

        def planner(view: OwnerView, _now: int) -> list[Decision]:
            return asking.decide(view, claims, texts, chat.model)

        appended = self._lifecycle.carry_out_plan(owner, planner, now=now, check=check)
        done.other.decisions += appended.decisions
        done.other.appended += appended.appended
        done.other.position = appended.position or done.other.position


def _named(jobs: Sequence[str]) -> list[_Asking]:
    return [asking for name, asking in ASKING.items() if name in jobs]
