"""The reviewer by a language model (seed 003, its review mechanism): what it is shown, what it may answer, what is made of it.

It sees the memory and the five nearest to it, may search three times, and answers with a typed answer. Whatever it says, code
holds to what follows. Promoted is only with a ground, and never what passes, what is planned, negated or in conflict, what the
assistant itself said, a turn as it was said, or a question. Deleted is never what is verified, sensitive, core, or says who
somebody is; nor at a promotion: what has just risen is in use, and the fold would not let it go. A secret is shown to no model:
of it the rule decides, which reads no content. Where only keeping is left, no model is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

import numpy as np
from pydantic import BaseModel, Field

from engramlog_server.events.errors import ModelFailed
from engramlog_server.projections.language.contradiction.relation import read
from engramlog_server.projections.language.prompt_text import is_chinese, one_line
from engramlog_server.projections.language.similar import similarity
from engramlog_server.projections.laws.modes import Flags, visibility
from engramlog_server.projections.lifecycle.reviewing import (
    Briefing,
    Look,
    ReviewDecision,
    ReviewQuestion,
    by_rule,
    unfit_for_core,
)
from engramlog_server.projections.memory.kind import is_statement
from engramlog_server.projections.memory.record import SECRET, UNCOMPRESSED, Memory
from engramlog_server.projections.models.chat import Chat, ModelUsage, Unfit, prompt
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import ALONE
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView

NEAREST = 5
ROUNDS = 3
"""How often a model may search before it decides."""
MOST_COMPARED = 50
"""Memories that share the rarest words, compared in full to find the nearest."""
MOST_SHOWN, MOST_BESIDE = 1_500, 300
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
    if doubt is None and _asserts_nothing(memory.content[:MOST_SHOWN]):
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
    beside = [_shown(view, one, MOST_BESIDE) for one in _nearest(view, now, memory)]
    told = _shown(view, memory, MOST_SHOWN) | {
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
    return [_shown(view, one, MOST_BESIDE) for one in memories if one is not None][:NEAREST]


def _nearest(view: OwnerView, now: int, memory: Memory) -> list[Memory]:
    shown = visibility(view.columns, view.law, now, view.parameters, "normal").shown
    text = memory.content[:MOST_SHOWN]
    matches = view.matches(text)
    place = [at for at in np.argsort(-matches.scores, kind="stable").tolist() if shown[matches.rows[at]]]
    near = [view.columns.memories[int(matches.rows[at])] for at in place[: MOST_COMPARED + 1]]
    near = [one for one in near if one.id != memory.id]
    near.sort(key=lambda one: (-similarity(text, one.content[:MOST_SHOWN]), one.id))
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
