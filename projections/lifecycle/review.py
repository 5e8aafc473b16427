"""The reviewer (seed 003): what is asked, once for each crossing of a threshold, and who answers: a rule, or a language model.

Only owners under the tiered profile are reviewed. The rule is one that anyone can read. It promotes what lasts: identity,
lasting preferences, agreements and what was decided; and skills, for what somebody is able to do says who they are, and no
use makes it so. It never promotes a passing state, a plan, or what is merely frequent. It lets go only what is passing,
unconfirmed and unused.

A model sees the memory and the five nearest to it, may search three times, and gives a typed answer. Whatever it says, code
holds to what follows. Promoted is only with a ground, and never what passes, what is planned, negated or in conflict, what the
assistant itself said, a turn as it was said, or a question. Deleted is never what is verified, sensitive, core, or says who
somebody is; nor at a promotion: what has just risen is in use, and the fold would not let it go. A secret is shown to no model:
of it the rule decides, which reads no content. Where only keeping is left, no model is asked.

Important memories that are due for review are gone through once more, as sleep does (seed 000, phase 3), only for owners who asked
for it (`replay_important`): a replay counts as an access by association, and so changes what every law but the weighted one says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol
from zoneinfo import ZoneInfo

import numpy as np
from pydantic import BaseModel, Field

from engramlog_server.events.catalogue import Access, MemoriesAccessed, MemoryDeleted, MemoryKept, MemoryPromoted
from engramlog_server.events.envelope import from_micros
from engramlog_server.events.errors import ModelFailed
from engramlog_server.events.vocabulary import MOST_SHOWN, Actor
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.contradiction.relation import read
from engramlog_server.projections.language.prompt_text import is_chinese, one_line
from engramlog_server.projections.language.similar import similarity
from engramlog_server.projections.laws.law import fallen_at, lower_threshold
from engramlog_server.projections.laws.modes import Flags, visibility
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.memory.columns import NEVER, Columns
from engramlog_server.projections.memory.kind import borne_out, is_statement
from engramlog_server.projections.memory.record import SECRET, UNCOMPRESSED, Memory
from engramlog_server.projections.models.chat import Chat, ModelUsage, Unfit, prompt
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import ALONE
from engramlog_server.projections.reports.health import reviews_due
from engramlog_server.projections.views.query import ViewQuery, moment
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


NEAREST = 5
ROUNDS = 3
"""How often a model may search before it decides."""
MOST_COMPARED = 50
"""Memories that share the rarest words, compared in full to find the nearest."""
_CONTENT_SHOWN, _NEAR_SHOWN = 1_500, 300
"""Characters shown of the memory itself, and of each beside it."""
MOST_ASKED, MOST_REASON, MOST_NAME = 200, 200, 120
"""Characters of a search, of a model's reason and of its name that are kept."""
Choice = Literal["PROMOTE", "KEEP", "DELETE", "SEARCH"]


class ReviewAnswer(BaseModel):
    """What becomes of the memory, or what to search for first."""

    action: Choice = Field(description="one of the actions that are allowed")
    ground: Literal["identity", "lasting_preference", "agreement", "none"] = Field(
        default="none", description="for PROMOTE: what makes it lasting; else none"
    )
    query: str = Field(default="", description="for SEARCH: a few keywords")
    reason: str = Field(default="", description="why, in one short sentence")


class ModelReviewer:
    """The reviewer by model; it asks through the chat that it is given. Not for two threads at once."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._usage = ModelUsage()

    @property
    def usage(self) -> ModelUsage:
        """What asking took so far, failures included."""
        return self._usage

    def answer(self, briefing: Briefing, look: Look) -> ReviewDecision:
        """See `Reviewer`. At most three searches, each answered by `look`."""
        system, _, beginning = prompt("review", "zh" if briefing.chinese else "en").partition("\n---\n")
        searched: list[dict[str, Any]] = []
        while True:
            left = ROUNDS - len(searched)
            asked = json.dumps(shown_to(briefing, searched), ensure_ascii=False, indent=1)
            given = self._asked(system.strip(), f"{beginning.strip()}\n\n{asked}", fitting(briefing.question, left))
            if given.action != "SEARCH" or left == 0:
                return answer_of(briefing.question, given, self._chat.model)
            query = one_line(given.query)[:MOST_ASKED]
            searched.append({"query": query, "found": look(query)})

    def _asked(self, system: str, words: str, check: Callable[[ReviewAnswer], None]) -> ReviewAnswer:
        try:
            given, usage = self._chat.ask(system, words, ReviewAnswer, check)
        except ModelFailed as error:
            self._usage = self._usage.plus(ModelUsage(*error.usage))
            raise
        self._usage = self._usage.plus(usage)
        return given


def without_model(question: ReviewQuestion) -> ReviewDecision | None:
    """The answer where no model is to be asked: about a secret, or where only keeping is left; else None."""
    memory = question.memory
    if memory.sensitivity >= SECRET:
        return by_rule(question)
    if choices(question) == ("KEEP",):
        fixed = _not_to_promote(memory) if question.review == "promotion" else _not_to_delete(memory)
        return ReviewDecision("keep", fixed or "nothing else is left")
    return None


def choices(question: ReviewQuestion) -> tuple[Choice, ...]:
    """What may become of a memory, whatever a model says."""
    memory = question.memory
    if question.review == "promotion":
        return ("KEEP",) if _not_to_promote(memory) else ("PROMOTE", "KEEP")
    return ("KEEP",) if _not_to_delete(memory) else ("KEEP", "DELETE")


def _not_to_promote(memory: Memory) -> str | None:
    doubt = unfit_for_core(memory)
    if doubt is None and memory.source == "assistant" and not memory.verified:
        return "the assistant said it, and nobody confirmed it"
    if doubt is None and not is_statement(memory):
        return "a turn as it was said is no statement"  # what it orders would stand in every prompt
    if doubt is None and _asserts_nothing(memory.content[:_CONTENT_SHOWN]):
        return "a question or a supposition asserts nothing"
    return doubt


def _asserts_nothing(content: str) -> bool:
    said = read(content)
    return said.asks or said.supposed


def _not_to_delete(memory: Memory) -> str | None:
    if memory.verified:
        return "verified"
    if memory.sensitivity >= UNCOMPRESSED:
        return "sensitive"
    if memory.tier in ("core", "system"):
        return memory.tier
    return "identity: it lasts" if memory.category == "identity" else None


def fitting(question: ReviewQuestion, searches_left: int) -> Callable[[ReviewAnswer], None]:
    """What an answer must hold to: raises Unfit with what is wrong, in words for the model."""
    allowed: tuple[Choice, ...] = choices(question) + (("SEARCH",) if searches_left else ())

    def check(given: ReviewAnswer) -> None:
        if given.action not in allowed:
            raise Unfit(f"action {given.action} is not allowed here; allowed: {', '.join(allowed)}")
        if given.action == "PROMOTE" and given.ground == "none":
            raise Unfit("PROMOTE needs a ground: identity, lasting_preference or agreement; without one answer KEEP")
        if given.action == "SEARCH" and not one_line(given.query):
            raise Unfit("SEARCH needs a query of a few keywords")

    return check


def answer_of(question: ReviewQuestion, given: ReviewAnswer, model: str) -> ReviewDecision:
    """What is made of a model's answer; keeping where it may not be done, should nobody have checked it before."""
    reason = one_line(given.reason)[:MOST_REASON].rstrip() or "no reason given"
    if given.action not in choices(question) or (given.action == "PROMOTE" and given.ground == "none"):
        return ReviewDecision("keep", f"{named(model)} may not {given.action.lower()} it: {reason}", "judge", model)
    ground = f" ({given.ground})" if given.action == "PROMOTE" else ""
    told = f"{named(model)}{ground}: {reason}"
    if given.action == "PROMOTE":
        return ReviewDecision("promote", told, "judge", model)
    return ReviewDecision("delete" if given.action == "DELETE" else "keep", told, "judge", model)


def named(model: str) -> str:
    """A model's name as one line."""
    return one_line(model)[:MOST_NAME] or "a model"


def shown_to(briefing: Briefing, searched: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """All that a model is shown, JSON-ready."""
    left = ROUNDS - len(searched)
    return {
        "review": briefing.question.review,
        "allowed": [*choices(briefing.question), *(("SEARCH",) if left else ())],
        "searches_left": left,
        **briefing.shown,
        "searched": list(searched),
    }


def briefing(view: OwnerView, now: int, question: ReviewQuestion) -> Briefing:
    """A question with five memories beside: what replaced it, then the nearest that normal mode shows, which shows no secret."""
    memory = question.memory
    beside = [_shown(view, one, _NEAR_SHOWN) for one in _nearest(view, now, memory)]
    told = _shown(view, memory, _CONTENT_SHOWN) | {
        "mentioned": memory.mention_count,
        "brought to mind": memory.access_count,
        "put to use": memory.reinforce_count,
        "negated": memory.is_negated,
        "may contradict others": bool(memory.conflicts),
        "kept before": question.asked_again,
    }
    words = " ".join(str(one["content"]) for one in [told, *beside])
    return Briefing(question, {"memory": told, "related": beside}, is_chinese(words))


def found(view: OwnerView, now: int, query: str, besides: str) -> list[dict[str, Any]]:
    """The best matches that normal mode shows, but for the memory `besides`: what a search of a model's finds."""
    results = search(ViewQuery(view, now, "normal"), query, NEAREST + 1, ALONE)["results"]
    memories = [view.get(one["id"]) for one in results if one["id"] != besides]
    return [_shown(view, one, _NEAR_SHOWN) for one in memories if one is not None][:NEAREST]


def _nearest(view: OwnerView, now: int, memory: Memory) -> list[Memory]:
    shown = visibility(view.columns, view.law, now, view.parameters, "normal").shown
    text = memory.content[:_CONTENT_SHOWN]
    matches = view.matches(text)
    place = [at for at in np.argsort(-matches.scores, kind="stable").tolist() if shown[matches.rows[at]]]
    near = [view.columns.memories[int(matches.rows[at])] for at in place[: MOST_COMPARED + 1]]
    near = [one for one in near if one.id != memory.id]
    near.sort(key=lambda one: (-similarity(text, one.content[:_CONTENT_SHOWN]), one.id))
    first = _successor(view, shown, memory)
    return [*first, *(one for one in near if one not in first)][:NEAREST]


def _successor(view: OwnerView, shown: Flags, memory: Memory) -> list[Memory]:
    """What replaced a memory, where normal mode shows it."""
    row = None if memory.superseded_by is None else view.columns.row(memory.superseded_by)
    return [] if row is None or not shown[row] else [view.columns.memories[row]]


def _shown(view: OwnerView, memory: Memory, most: int) -> dict[str, Any]:
    zone = ZoneInfo(view.parameters.time_zone)
    return {
        "id": memory.id,
        "content": one_line(memory.content)[:most],
        "category": memory.category,
        "kind": memory.kind,
        "said by": one_line(memory.speaker)[:MOST_NAME] if memory.speaker else memory.source,
        "said on": datetime.fromtimestamp(memory.created_at // 1_000_000, zone).date().isoformat(),
    }
