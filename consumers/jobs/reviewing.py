"""Lifecycle jobs that ask a language model or another reviewer: `ReviewJob` for reviews, `AbstractionJob` for merges and patterns.

What is asked is read off a view; the reviewer thinks while nothing is held; and what it answered is planned on the newest view
and appended with the owner's expected head, of reviews ten answers at a time. An answer counts only while its question stands:
what was mentioned, revised or looked at meanwhile is asked about again at the next run. Killed anywhere and run again it does
nothing twice. If the reviewer fails nothing is decided and nothing deleted; what rules found stays, and the run says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs, LifecycleRun
from engramlog_server.events.alarms import Tell, silent
from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.lifecycle import COMPARING, FINAL, JOBS, LEVELS, MERGE, SUGGEST, Decision, plan
from engramlog_server.projections.lifecycle.merging import alike_statements, merges_by_model, said_alike
from engramlog_server.projections.lifecycle.patterns import JOB as ABSTRACT
from engramlog_server.projections.lifecycle.patterns import proposals
from engramlog_server.projections.lifecycle.patterns import questions as pattern_questions
from engramlog_server.projections.lifecycle.review import (
    Briefing,
    Look,
    ReviewDecision,
    Reviewer,
    ReviewQuestion,
    answered,
    briefing,
    found,
    questions,
    without_model,
)
from engramlog_server.projections.models.chat import Chat, ModelUsage
from engramlog_server.projections.models.texts import Claim, ShownMemory, claims_by
from engramlog_server.projections.views.view import OwnerView

REVIEW = "review"
"""The job's name in `projections.lifecycle.JOBS`."""
MOST_ASKED = 50
"""Questions about one owner in one run, the longest due first; the others are asked at the next."""
PORTION = 10
"""Answers appended at once: so many are lost, and asked for again, where a run is killed."""
SHARE_DELETED, MOST_DELETED = 5, 10
"""Of an owner's decay reviews in a run one in five may end in a deletion, and ten at most; one in any case. Soft deletions."""
REFUSED_IN_A_ROW = 3
"""After so many answers that cannot be used the rest is left to the next run."""
Progress = Callable[[int, int], None]
Key = tuple[str, str, int, int]


@dataclass(slots=True)
class ReviewRun(LifecycleRun):
    """What a run did for one owner, and what its reviewer was asked."""

    asked: list[ReviewQuestion] = field(default_factory=list)
    """What the reviewer was asked; in a plan, what it would be asked."""
    left_open: int = 0
    """Questions that got no answer, or one that was not followed: they are asked again at the next run."""
    held_back: int = 0
    """Of those, a deletion beyond what one run may delete; after it no decay review is asked in this run."""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    failure: str | None = None
    """Why the reviewer could be asked no more, or the last answer not be used."""
    down: bool = False
    """Whether its endpoint failed."""

    def as_dict(self) -> dict[str, Any]:
        """As of any run, and what was asked, without contents."""
        names = ("left_open", "held_back", "requests", "input_tokens", "output_tokens", "failure")
        # Named, as a dataclass with slots is another class than the one that `super()` would look for.
        return (
            LifecycleRun.as_dict(self)
            | {"asked": [one.as_dict() for one in self.asked]}
            | {name: getattr(self, name) for name in names}
        )

    def add(self, done: LifecycleRun) -> None:
        """Take in what was appended."""
        self.decisions += done.decisions
        self.appended += done.appended
        self.position = done.position or self.position
        self.compared = done.compared or self.compared


class _Due(NamedTuple):
    """What a review begins with."""

    fixed: Mapping[Key, ReviewDecision]
    """Answers that no model is asked for."""
    open: list[ReviewQuestion]
    """Questions to ask, the longest due first."""


class ReviewJob:
    """`LifecycleJobs` with another reviewer than the rule: `make` is called when there is something to ask it.

    `reviewer` is its name; `enough` is looked at before each question: once it is true the rest is left to the next run.
    """

    def __init__(
        self,
        lifecycle: LifecycleJobs,
        make: Callable[[], Reviewer],
        reviewer: str,
        tell: Tell = silent,
        enough: Callable[[], bool] = lambda: False,
    ) -> None:
        self._lifecycle = lifecycle
        self._make = make
        self.reviewer = reviewer
        self._tell = tell
        self._enough = enough

    def plan(
        self, owner: str, jobs: Sequence[str] = tuple(JOBS), *, now: int | None = None, check: Check = unchecked
    ) -> ReviewRun:
        """What the jobs would do, and what the reviewer would be asked; it is not."""
        apart = [name for name in jobs if name in (LEVELS, SUGGEST)]
        foreseen = partial(_foreseen, jobs=[name for name in jobs if name not in apart], check=check)
        decisions, asked = self._lifecycle.look(owner, foreseen, now=now, check=check)
        # What reads more than the view is planned where it is read.
        rest = self._lifecycle.plan(owner, apart, now=now, check=check)
        gone = {memory_id for one in decisions if one.action in FINAL for memory_id in one.ids}
        others = [one for one in rest.decisions if gone.isdisjoint(one.ids)]
        return ReviewRun(owner, [*decisions, *others], 0, rest.position, rest.compared, asked)

    def carry_out(
        self,
        owner: str,
        jobs: Sequence[str] = tuple(JOBS),
        *,
        now: int | None = None,
        on_progress: Progress = lambda _done, _total: None,
        check: Check = unchecked,
    ) -> ReviewRun:
        """The jobs in their order. Raises as `LifecycleJobs.carry_out`, and what making the reviewer raises."""
        done = ReviewRun(owner)
        for part in _parts(jobs):
            if part == [REVIEW]:
                self._review(done, now, on_progress, check)
            else:
                done.add(self._lifecycle.carry_out(owner, part, now=now, on_progress=on_progress, check=check))
        return done

    def _review(self, done: ReviewRun, now: int | None, on_progress: Progress, check: Check) -> None:
        due = self._lifecycle.look(done.owner, _due, now=now, check=check)
        self._append(done, due.fixed, now)
        asked = due.open[:MOST_ASKED]
        done.left_open = len(due.open)
        if not asked:
            return
        run = _Run(done, self._make(), sum(one.review == "decay" for one in asked))
        for start in range(0, len(asked), PORTION):
            answers: dict[Key, ReviewDecision] = {}
            try:
                for number, question in enumerate(asked[start : start + PORTION], start):
                    check(number, len(asked))
                    on_progress(number, len(asked))
                    if run.is_over or self._enough():
                        break
                    if run.may_ask(question):
                        self._ask(run, question, now, answers)
            finally:  # what was answered counts, whatever stops the run
                done.left_open -= self._append(done, answers, now)
        self._told(done)

    def _ask(self, run: _Run, question: ReviewQuestion, now: int | None, answers: dict[Key, ReviewDecision]) -> None:
        """One question, which may no longer stand."""
        owner = run.done.owner
        told = self._lifecycle.look(owner, partial(_briefed, key=question.key), now=now)
        if told is None:
            run.done.left_open -= 1
            return

        def look(query: str) -> list[dict[str, Any]]:
            return self._lifecycle.look(owner, partial(found, query=query, besides=question.memory.id), now=now)

        answer = run.answer(told, look)
        if answer is not None:
            answers[question.key] = answer

    def _append(self, done: ReviewRun, answers: Mapping[Key, ReviewDecision], now: int | None) -> int:
        """What follows from the answers, as far as their questions still stand; how many did."""
        if not answers:
            return 0
        followed = self._lifecycle.carry_out_plan(done.owner, partial(answered, answers=answers), now=now)
        done.add(followed)
        return len(followed.decisions)

    def _told(self, done: ReviewRun) -> None:
        """Counts alone: a reason may hold what somebody said."""
        facts = {"owner": done.owner, "reviewer": self.reviewer, "asked": len(done.asked)}
        facts |= {"left_open": done.left_open, "held_back": done.held_back, "requests": done.requests}
        facts |= {"input_tokens": done.input_tokens, "output_tokens": done.output_tokens}
        self._tell("memories reviewed", alarm=bool(done.failure or done.held_back), **facts)


class _Run:
    """One review of one owner: what was asked of the reviewer, and what it may still delete."""

    def __init__(self, done: ReviewRun, reviewer: Reviewer, decays: int) -> None:
        self.done = done
        self.reviewer = reviewer
        self._deletions = max(1, min(MOST_DELETED, decays // SHARE_DELETED))
        self._refused = 0
        self.is_over = False

    def may_ask(self, question: ReviewQuestion) -> bool:
        """Whether a question's answer could be followed: not a decay review once a deletion was held back."""
        return question.review == "promotion" or not self.done.held_back

    def answer(self, told: Briefing, look: Look) -> ReviewDecision | None:
        """The reviewer's answer; None where there is none, or one that is not followed."""
        self.done.asked.append(told.question)
        try:
            answer = self.reviewer.answer(told, look)
        except ModelFailed as error:
            self._failed(error)
            return None
        finally:
            self._count()
        self._refused = 0
        if answer.action == "delete":
            if not self._deletions:
                self.done.held_back += 1
                return None
            self._deletions -= 1
        return answer

    def _failed(self, error: ModelFailed) -> None:
        self._refused += 1
        self.done.failure, self.done.down = error.message, error.down
        self.is_over = error.down or self._refused == REFUSED_IN_A_ROW

    def _count(self) -> None:
        usage = self.reviewer.usage
        self.done.requests, self.done.input_tokens, self.done.output_tokens = usage


def _due(view: OwnerView, now: int) -> _Due:
    asked = sorted(questions(view, now), key=lambda one: (one.due_at, one.memory.id))
    fixed = {one.key: answer for one in asked if (answer := without_model(one)) is not None}
    return _Due(fixed, [one for one in asked if one.key not in fixed])


def _briefed(view: OwnerView, now: int, key: Key) -> Briefing | None:
    """What the reviewer is shown of a question; None where it stands no longer."""
    question = next((one for one in questions(view, now) if one.key == key), None)
    return None if question is None else briefing(view, now, question)


def _foreseen(
    view: OwnerView, now: int, jobs: Sequence[str], check: Check = unchecked
) -> tuple[list[Decision], list[ReviewQuestion]]:
    """What the jobs decide without a model, and what one would be asked."""
    decisions: list[Decision] = []
    asked: list[ReviewQuestion] = []
    for part in _parts(jobs):
        gone = {memory_id for one in decisions if one.action in FINAL for memory_id in one.ids}
        if part == [REVIEW]:
            due = _due(view, now)
            asked = [one for one in due.open if one.memory.id not in gone]
            found_here = answered(view, now, due.fixed)
        else:
            found_here = plan(view, now, part, check)
        decisions += [one for one in found_here if gone.isdisjoint(one.ids)]
    return decisions, asked


def _parts(jobs: Sequence[str]) -> list[list[str]]:
    """The jobs in their order, the review by itself."""
    ordered = [name for name in (*JOBS, *COMPARING) if name in jobs]
    if REVIEW not in ordered:
        return [list(jobs)] if jobs else []
    at = ordered.index(REVIEW)
    return [part for part in (ordered[:at], [REVIEW], ordered[at + 1 :]) if part]


Question = tuple[ShownMemory, ...]


class _Asking(NamedTuple):
    """How a job asks a model."""

    questions: Callable[[OwnerView, int], list[Question]]
    ask: Callable[[Chat, Question], tuple[list[Claim], ModelUsage]]
    decide: Callable[[OwnerView, Sequence[Claim], dict[str, str], str], list[Decision]]
    """What follows from the claims: of the view, the claims, what was shown by id, and the model."""


ASKING: Mapping[str, _Asking] = {
    MERGE: _Asking(alike_statements, said_alike, merges_by_model),
    ABSTRACT: _Asking(pattern_questions, claims_by, proposals),
}
"""In the order in which they ask."""


def merges_since(seq: int) -> Mapping[str, _Asking]:
    """Asks about merges alone, and only if a statement of the group was written behind this position."""
    return {MERGE: ASKING[MERGE]._replace(questions=partial(alike_statements, since=seq))}


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

    def __init__(
        self,
        jobs: LifecycleJobs | ReviewJob,
        lifecycle: LifecycleJobs,
        chat: Callable[[], Chat],
        asking: Mapping[str, _Asking] = ASKING,
    ) -> None:
        self._jobs = jobs
        self._asking = asking
        self._lifecycle = lifecycle
        self._chat = chat
        self.reviewer = jobs.reviewer

    def plan(
        self, owner: str, jobs: Sequence[str] = tuple(JOBS), *, now: int | None = None, check: Check = unchecked
    ) -> AbstractionRun:
        """What the jobs would do, and how much the model would be asked; it is not."""
        planned = AbstractionRun(self._jobs.plan(owner, jobs, now=now, check=check))
        for asking in self._named(jobs):
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
        for asking in self._named(jobs):
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

    def _named(self, jobs: Sequence[str]) -> list[_Asking]:
        return [asking for name, asking in self._asking.items() if name in jobs]
