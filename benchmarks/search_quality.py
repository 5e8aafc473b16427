"""Whether search finds the turns that answer a question, in review mode: hit rates, mean reciprocal rank, all of the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import NamedTuple

from benchmarks.dataset import Dataset, Question
from benchmarks.vectors import Meanings
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest

DEPTH = 100
"""Results read; evidence below counts as not found."""
CUTS = (1, 3, 5, 10)


class Outcome(NamedTuple):
    """Where the evidence of one question was found."""

    question: Question
    ranks: tuple[int, ...]
    """Ranks of the evidence among the results, ascending, from 1."""
    current_first: bool | None
    """Whether a current turn ranks above the outdated ones; None if the question has none of them."""


def evaluate_search(
    data: Dataset, meanings: Meanings | None, request: SearchRequest | None = None
) -> dict[str, dict[str, float]]:
    """Shares over all questions (`all`) and by category."""
    if request is None:
        request = SearchRequest(search_mode="keyword" if meanings is None else "hybrid", reasons=False)

    def ranked(question: Question) -> list[str]:
        asked = data.conversations[question.conversation].asked(question, "review")
        sense = None if meanings is None else meanings.asked(asked.view, question.text)
        return [result["id"] for result in search(asked, question.text, DEPTH, request, sense)["results"]]

    return evaluate_ranking(data, ranked)


def evaluate_ranking(data: Dataset, ranked: Callable[[Question], Sequence[str]]) -> dict[str, dict[str, float]]:
    """The same of any ranking: the ids of turns for a question, best first."""
    outcomes = [_outcome(question, ranked(question)) for question in data.questions]
    categories = sorted({one.category for one in data.questions})
    return {"all": _shares(outcomes)} | {
        name: _shares([one for one in outcomes if one.question.category == name]) for name in categories
    }


def _outcome(question: Question, ids: Sequence[str]) -> Outcome:
    rank = {memory_id: number for number, memory_id in enumerate(ids[:DEPTH], 1)}
    outdated, current = ([rank.get(one, DEPTH + 1) for one in turns] for turns in (question.outdated, question.current))
    first = min(current) < min(outdated) if outdated and current else None
    return Outcome(question, tuple(sorted(rank[one] for one in question.evidence if one in rank)), first)


def _shares(outcomes: Sequence[Outcome]) -> dict[str, float]:
    shares: dict[str, float] = {"questions": len(outcomes)}
    for cut in CUTS:
        shares[f"hit@{cut}"] = fmean(bool(one.ranks) and one.ranks[0] <= cut for one in outcomes)
    shares["all@10"] = fmean(sum(rank <= 10 for rank in one.ranks) == len(one.question.evidence) for one in outcomes)
    shares["mrr"] = fmean(1 / one.ranks[0] if one.ranks else 0.0 for one in outcomes)
    updates = [one.current_first for one in outcomes if one.current_first is not None]
    if updates:
        shares["current first"] = fmean(updates)
    return shares
