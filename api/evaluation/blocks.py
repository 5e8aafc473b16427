"""Evaluating the context block on the same folders: whether what an agent is handed for a question holds all of the answer.

Each question is the first turn of a new conversation: the block holds the time, what always holds, and what is brought up, within
its budget. Nothing else is different from what `context` hands out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, quantiles
from time import perf_counter
from typing import NamedTuple, TypedDict, Unpack

from api.choices import BUDGET
from api.evaluation.folder import DatasetQuestion
from api.evaluation.meaning import EvaluationVectors
from api.evaluation.search import EvaluationAnswer, EvaluationTerms, Progress, evaluate_by, near_all
from projections.choices import MOST_SEARCHES, THRESHOLD
from projections.language.prompt_text import is_chinese
from projections.memory.working_memory import conversation
from projections.prompt.block import Block, build
from projections.prompt.gathering import AskedTurn, Valued, Wanted, always, material, rules_of
from projections.prompt.lines import sensitivity_allowed
from projections.prompt.whole import brought_up
from projections.ranking.proactive import closenesses, searches
from projections.ranking.recall import search
from projections.ranking.search_request import SearchRequest
from projections.views.query import ViewQuery

CANDIDATES = 20
"""Results of a search that are looked at, as `context` does."""


class BlockAsked(NamedTuple):
    """How blocks are asked for."""

    budget: int = BUDGET
    threshold: float = THRESHOLD
    whole: bool | None = None


class BlockOutcome(NamedTuple):
    """What the block of one question held."""

    question: DatasetQuestion
    memories: list[str]
    near: bool
    tokens: int
    seconds: float


class BlocksMeasured(TypedDict):
    """Shares of the questions; memories and tokens a block."""

    questions: int
    some: float
    """Any memory in the block."""
    any: float
    """Any evidence in it."""
    all: float
    """All of it."""
    near: float
    """Of all of it the turn itself or a direct neighbour."""
    memories: float
    tokens: float
    tokens_p95: float


def evaluate_blocks(
    folder: Path,
    request: SearchRequest,
    asked: BlockAsked,
    on_progress: Progress = lambda _done, _total: None,
    **terms: Unpack[EvaluationTerms],
) -> EvaluationAnswer:
    """What the context block of each question holds, over all and by category, in normal mode. Raises as `evaluate`."""
    asks = partial(block_of, request=request, asked=asked, vectors=terms.get("vectors"))
    answer = evaluate_by(folder, request, "normal", asks, blocks_measured, on_progress, **terms)
    return answer | {"context": asked._asdict()}


def block_of(
    at: ViewQuery,
    question: DatasetQuestion,
    request: SearchRequest,
    asked: BlockAsked,
    vectors: EvaluationVectors | None,
) -> BlockOutcome:
    """The block of one question, and whether its evidence is in it."""
    start = perf_counter()
    made = _made(at, question, request._replace(reasons=False), asked, vectors)
    taken = perf_counter() - start
    return BlockOutcome(question, made.memories, near_all(at.view, question, made.memories), made.tokens, taken)


def _made(
    at: ViewQuery,
    question: DatasetQuestion,
    request: SearchRequest,
    asked: BlockAsked,
    vectors: EvaluationVectors | None,
) -> Block:
    view, text, found = at.view, question.text, list[Valued]()
    request = request._replace(most_sensitive=sensitivity_allowed(sensitive=False))
    for query in searches(text, MOST_SEARCHES):
        sense = None if vectors is None else vectors.asked(view, question.owner, query)
        results = search(at, query, CANDIDATES, request, sense)["results"]
        found.append(Valued(results, closenesses(view, query, results)))
    language = "zh" if is_chinese(text) else "en"
    wanted = Wanted(asked.budget, 0, sensitive=False, language=language, threshold=asked.threshold, trust=0)
    wanted = wanted._replace(whole=asked.whole)
    rules, turn = rules_of(view, wanted), AskedTurn(text, conversation((), text))
    holds = always(view, at.now, turn.talk, rules)
    close, _ = brought_up(view, at.now, found, turn, wanted, rules, holds)
    return build(material(view, at.now, 0, turn, 0, rules, holds, close), asked.budget, language)


def blocks_measured(outcomes: Sequence[BlockOutcome]) -> BlocksMeasured:
    """The figures of some blocks, at least one."""
    tokens = [one.tokens for one in outcomes]
    shown = [(set(one.memories), set(one.question.evidence), one) for one in outcomes]
    return {
        "questions": len(outcomes),
        "some": round(fmean(bool(one.memories) for one in outcomes), 4),
        "any": round(fmean(bool(held & evidence) for held, evidence, _ in shown), 4),
        "all": round(fmean(evidence <= held for held, evidence, _ in shown), 4),
        "near": round(fmean(one.near for one in outcomes), 4),
        "memories": round(fmean(len(one.memories) for one in outcomes), 2),
        "tokens": round(fmean(tokens), 1),
        "tokens_p95": round(quantiles(tokens, n=20, method="inclusive")[-1], 1)
        if len(tokens) > 1
        else float(tokens[0]),
    }
