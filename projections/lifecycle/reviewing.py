"""The reviewer (seed 003): what is asked, once for each crossing of a threshold, and the rule that answers by default.

Only owners under the tiered profile are reviewed. The rule is one that anyone can read. It promotes what lasts: identity,
lasting preferences, agreements and what was decided; and skills, for what somebody is able to do says who they are, and no
use makes it so. It never promotes a passing state, a plan, or what is merely frequent. It lets go only what is passing,
unconfirmed and unused. Who else answers: `projections.lifecycle.reviewing_by_model`.

Important memories that are due for review are gone through once more, as sleep does (seed 000, phase 3), only for owners who asked
for it (`replay_important`): a replay counts as an access by association, and so changes what every law but the weighted one says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from engramlog_server.events.catalogue import Access, MemoriesAccessed, MemoryDeleted, MemoryKept, MemoryPromoted
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.vocabulary import MOST_SHOWN, Actor
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.laws.tiered import fallen_at, lower_threshold
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.memory.columns import NEVER, Columns
from engramlog_server.projections.memory.ground import borne_out
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.models.chat import ModelUsage
from engramlog_server.projections.reports.review_due import reviews_due
from engramlog_server.projections.views.query import moment
from engramlog_server.projections.views.view import OwnerView

MOST = MOST_SHOWN
"""Memories replayed in one run."""


def rehearsals(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """One access of all that is important and due by `now`, microseconds; none where the owner did not ask for replays."""
    if not view.parameters.replay_important:
        return []
    check(0, 1)
    due = reviews_due(view, now, limit=MOST)
    memories = [view.columns.memories[int(row)] for row in due.rows]
    if not memories:
        return []
    ids, seq = tuple(memory.id for memory in memories), max(memory.changed_seq for memory in memories)
    data = MemoriesAccessed(accesses=(Access(at=from_micros(now), shown=ids),), via="association")
    reason = f"{len(ids)} important memories are due"
    return [Decision("replay", "replay", ids, int(due.due_at.max()), seq, reason, data)]


LASTING = frozenset({"identity", "stable_preference", "skill"})
PASSING = frozenset({"temporary", "short_term_preference"})
AGREEMENTS = frozenset({"agreement", "decision", "约定"})
"""Kinds of what was agreed or decided; they last, unless their category says that they pass."""
PLANS = frozenset({"plan", "计划"})
Review = Literal["promotion", "decay"]
Action = Literal["promote", "keep", "delete"]


class ReviewQuestion(NamedTuple):
    """What a reviewer is asked: may a memory become core (promotion), or may it go (decay)."""

    memory: Memory
    review: Review
    due_at: int
    """When it crossed the threshold, microseconds: the same whenever it is asked."""
    asked_again: bool
    """Whether a reviewer kept it before, since it last stood above the threshold."""

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What an answer is an answer to: another event about the memory makes it another question."""
        return self.memory.id, self.review, self.due_at, self.memory.changed_seq

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, without any content."""
        return {"id": self.memory.id, "review": self.review, "due_at": moment(self.due_at)}


class ReviewDecision(NamedTuple):
    """A reviewer's answer, and why."""

    action: Action
    reason: str
    by: Actor = "system"
    model: str | None = None
    """The language model whose answer it is; None: the rule's."""


class Briefing(NamedTuple):
    """A question with what a reviewer sees beside it."""

    question: ReviewQuestion
    shown: Mapping[str, Any]
    """The memory and those nearest to it, JSON-ready."""
    chinese: bool
    """Whether most of what is shown is Chinese."""


Look = Callable[[str], list[dict[str, Any]]]
"""What an owner's memory holds on some words, JSON-ready; empty where nothing does."""


class Reviewer(Protocol):
    """Who answers. One that has to be waited for is asked while nothing is held."""

    @property
    def usage(self) -> ModelUsage:
        """What asking it took so far."""

    def answer(self, briefing: Briefing, look: Look) -> ReviewDecision:
        """Its answer. Raises ModelFailed where there is none: then nothing is decided, and it is asked again later."""


def reviews(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """The rule's answers to what is asked by `now`, microseconds."""
    asked = questions(view, now)
    return [decided(question, by_rule(question)) for question in counted(asked, check, len(asked))]


def questions(view: OwnerView, now: int) -> list[ReviewQuestion]:
    """What a reviewer is asked by `now`, microseconds: promotions first, each memory once."""
    if view.state.profile != "tiered":
        return []
    columns, parameters = view.columns, view.parameters
    unproved = (columns.tier == Columns.CORE) & (columns.grounded == 0)  # core by use alone: no reviewer has said so
    asked = (columns.state == Columns.LIVE) & (columns.waiting == 0) & ((columns.tier >= Columns.FACT) | unproved)
    risen = np.flatnonzero(asked & (columns.promotion_at > NEVER) & (columns.promotion_at <= now))
    least = np.where(columns.kept != 0, lower_threshold(parameters), parameters.decay_review_importance)
    due = fallen_at(columns, least, parameters)
    asked[risen] = False  # one question at a time
    crossed = columns.importance >= least  # what never stood above has crossed nothing
    fallen = np.flatnonzero(asked & crossed & (due <= now) & (due > columns.restored_at))

    def question(row: int, review: Review, due_at: int) -> ReviewQuestion:
        return ReviewQuestion(columns.memories[row], review, due_at, bool(columns.kept[row]))

    promotions = [question(row, "promotion", int(columns.promotion_at[row])) for row in risen.tolist()]
    return promotions + [question(row, "decay", int(due[row])) for row in fallen.tolist()]


def answered(view: OwnerView, now: int, answers: Mapping[tuple[str, str, int, int], ReviewDecision]) -> list[Decision]:
    """What follows from answers (by `ReviewQuestion.key`) that were thought over meanwhile: of questions that still stand."""
    return [decided(one, answers[one.key]) for one in questions(view, now) if one.key in answers]


def decided(question: ReviewQuestion, answer: ReviewDecision) -> Decision:
    """The event that an answer to a question is."""
    memory, at = question.memory, from_micros(question.due_at)
    data: MemoryPromoted | MemoryKept | MemoryDeleted
    if answer.action == "promote":
        tier: Any = memory.tier
        data = MemoryPromoted(memory_id=memory.id, from_=tier, to="core", due_at=at, reason=answer.reason)
    elif answer.action == "delete":
        data = MemoryDeleted(memory_id=memory.id, policy="auto_cleanup", due_at=at, reason=answer.reason)
    else:
        data = MemoryKept(memory_id=memory.id, reason=answer.reason, due_at=at)
    seq = memory.changed_seq
    return Decision("review", answer.action, (memory.id,), question.due_at, seq, answer.reason, data, actor=answer.by,
                    model=answer.model)  # fmt: skip


def by_rule(question: ReviewQuestion) -> ReviewDecision:
    """The rule's answer: the same whenever it is asked."""
    memory = question.memory
    if question.review == "promotion":
        doubt = unfit_for_core(memory)
        if doubt is not None:
            return ReviewDecision("keep", doubt)
        if memory.category in LASTING:
            return ReviewDecision("promote", f"{memory.category}: it lasts")
        if memory.kind in AGREEMENTS:
            return ReviewDecision("promote", f"{memory.kind}: it holds until another one does")
        return ReviewDecision("keep", f"{memory.category}: often is not lasting")
    reason = _may_go(memory, question.asked_again)
    return ReviewDecision("keep", "it still says something") if reason is None else ReviewDecision("delete", reason)


def unfit_for_core(memory: Memory) -> str | None:
    """Why nobody promotes a memory, whoever is asked, or None."""
    if memory.is_negated:
        return "negated"
    if memory.conflicts:
        return "in conflict"
    if not borne_out(memory):
        return "its importance was told, not earned by use"
    if memory.kind in PLANS:
        return f"{memory.kind}: what is planned passes"
    return f"{memory.category}: often is not lasting" if memory.category in PASSING else None


def _may_go(memory: Memory, asked_again: bool) -> str | None:
    """Why a memory that has decayed may be deleted, or None."""
    if memory.verified or memory.sensitivity >= 2 or memory.category in LASTING:
        return None
    if memory.is_superseded and memory.superseded_by:
        return "something newer replaced it"
    if memory.category in PASSING and memory.mention_count == 1:
        return f"{memory.category}, said once"
    unused = memory.mention_count == 1 and memory.access_count == 0 and not memory.facts
    return "said once and never asked for" if asked_again and unused and memory.kind not in AGREEMENTS else None
