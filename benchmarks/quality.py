"""How good search, the context block and the judge are on sets of talk.

Search in review mode: hit rates, mean reciprocal rank, all of the evidence, next to plain BM25 over the turns. The block in normal
mode: whether it holds the whole evidence of a question, by its budget of tokens. The judge: how well the rules recognise
contradictions in labelled pairs, JSON Lines `{"a": known, "b": new, "label", "kind"?}`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.dataset import Conversation, Dataset, Question, read_lines
from benchmarks.vectors import Meanings
from engramlog_server.events.errors import InputError
from engramlog_server.projections.language.contradiction.relation import compare
from engramlog_server.projections.language.prompt_text import estimated_tokens, is_chinese
from engramlog_server.projections.memory.working_memory import conversation
from engramlog_server.projections.prompt.block import Block
from engramlog_server.projections.prompt.gathering import (
    AskedTurn,
    Wanted,
    always,
    decided,
    in_two,
    material,
    named_in,
    query_of,
    read_message,
    related,
    rules_of,
    stable_part,
    stable_room,
)
from engramlog_server.projections.prompt.lines import sensitivity_allowed
from engramlog_server.projections.ranking.rankings import closenesses
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.shapes import Hit

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


BUDGETS = (500, 1_000, 2_000)
CANDIDATES = 80
"""Results of a search that the block chooses from, as `context` does."""


def evaluate_context(data: Dataset, meanings: Meanings | None) -> dict[str, float]:
    """Of each budget the share of questions whose evidence is all in the block, and the mean tokens of a block."""
    rows = [(question, context_blocks(data, question, meanings)) for question in data.questions]
    answer: dict[str, float] = {"questions": len(rows)}
    for number, budget in enumerate(BUDGETS):
        answer[f"whole@{budget}"] = fmean(
            set(question.evidence) <= set(blocks[number].memories) for question, blocks in rows
        )
        answer[f"tokens@{budget}"] = fmean(blocks[number].tokens for _, blocks in rows)
    return answer


def context_blocks(
    data: Dataset, question: Question, meanings: Meanings | None, budgets: Sequence[int] = BUDGETS
) -> list[Block]:
    """The block of each budget for a question, asked as the first turn of a new conversation."""
    at, text = data.conversations[question.conversation].asked(question, "normal"), question.text
    mode = "keyword" if meanings is None else "hybrid"
    request = SearchRequest(
        search_mode=mode, reasons=False, include_faded=True, most_sensitive=sensitivity_allowed(sensitive=True)
    )
    message = read_message(text, (), named_in(at.view))
    close = None if meanings is None or message.need != "unsure" else meanings.stands_out(at.view, message.ask)
    message = decided(message, "auto", close)
    results, query = list[Hit](), query_of(message)
    if message.need != "no":
        sense = None if meanings is None else meanings.asked(at.view, query)
        results = search(at, query, CANDIDATES, request, sense)["results"]
    closeness, talk = closenesses(at.view, query, results), conversation((), text)
    language, blocks = "zh" if is_chinese(text) else "en", list[Block]()
    for budget in budgets:
        wanted = Wanted(budget, 0, True, language, 0.0, 0, stable_room(budget, None))
        rules = rules_of(at.view, wanted)
        holds, turn = always(at.view, at.now, talk, rules), AskedTurn(text, talk, message, wanted)
        stable = stable_part(at.view, at.now, holds, rules, wanted, estimated_tokens)
        found = related(at.view, at.now, results, closeness, turn, rules, stable.holds)
        held = material(at.view, at.now, 0, turn, rules, stable.holds, found)
        blocks.append(in_two(stable, held, wanted, estimated_tokens).whole)
    return blocks


OPPOSED = frozenset(("contradict", "contradicts", "contradiction", "negated", "antonym"))
"""Labels of pairs that cannot both hold; pairs with any other label can."""
REWRITE = "rewrite"
"""Kind of pairs of which one text was made from the other; the rules compare them as such."""


class Judged(NamedTuple):
    """A pair after comparison."""

    kind: str
    opposed: bool
    """By its label."""
    found: bool
    """By the rules."""
    sure: bool
    """Whether the rules would act on it."""


def evaluate_pairs(path: Path) -> dict[str, dict[str, float]]:
    """Precision, recall, F1 and accuracy over all pairs (`all`) and by kind. Raises InputError for a line that is no pair."""
    judged = [_judge(path, number, row) for number, row in read_lines(path)]
    if not judged:
        raise InputError(f"{path}: got no pairs; allowed: at least one")
    kinds = sorted({one.kind for one in judged})
    return {"all": _figures(judged)} | {kind: _figures([one for one in judged if one.kind == kind]) for kind in kinds}


def _judge(path: Path, number: int, row: dict[str, str]) -> Judged:
    try:
        known, new, label = row["a"], row["b"], row["label"]
    except KeyError as missing:
        raise InputError(f"{path} line {number}: {missing} is missing") from missing
    kind = row.get("kind") or "without kind"
    relation = compare(new, known, rewritten=kind == REWRITE)
    found = relation.kind == "contradicts"
    return Judged(kind, label in OPPOSED, found, found and relation.sure)


def _figures(judged: Sequence[Judged]) -> dict[str, float]:
    right = sum(one.opposed and one.found for one in judged)
    found, opposed = sum(one.found for one in judged), sum(one.opposed for one in judged)
    sure = [one.opposed for one in judged if one.sure]
    ratios = {
        "precision": (right, found),
        "recall": (right, opposed),
        "f1": (2 * right, found + opposed),
        "accuracy": (sum(one.opposed == one.found for one in judged), len(judged)),
        "sure precision": (sum(sure), len(sure)),
    }
    counts: dict[str, float] = {"pairs": len(judged), "opposed": opposed, "found": found, "sure": len(sure)}
    return counts | {name: part / whole for name, (part, whole) in ratios.items() if whole}


K1, B = 1.2, 0.75
_RUNS = re.compile(r"[㐀-鿿]+|[^\W㐀-鿿]+")


def bm25(data: Dataset) -> Callable[[Question], list[str]]:
    """A ranking of the turns of a question's conversation: Okapi BM25, lower-case words, pairs of Chinese characters."""
    indexes = {name: _Index(one) for name, one in data.conversations.items()}
    return lambda question: indexes[question.conversation].ranked(question.text)


def terms(text: str) -> list[str]:
    """Words, and pairs of neighbouring Chinese characters."""
    found: list[str] = []
    for run in _RUNS.findall(text.lower()):
        pairs = [run[at : at + 2] for at in range(len(run) - 1)] if "㐀" <= run[0] <= "鿿" else []
        found += pairs or [run]
    return found


class _Index:
    """Weights of terms in the turns of one conversation; the name of a speaker is part of a turn."""

    def __init__(self, conversation: Conversation) -> None:
        memories = list(conversation.view.columns)
        counts = [Counter(terms(f"{one.speaker or ''} {one.content}")) for one in memories]
        self._ids = [one.id for one in memories]
        mean = sum(count.total() for count in counts) / max(1, len(counts))
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for at, count in enumerate(counts):
            room = K1 * (1 - B + B * count.total() / mean) if mean else K1
            for term, times in count.items():
                postings[term].append((at, times * (K1 + 1) / (times + room)))
        self._postings = {
            term: (log(1 + (len(counts) - len(found) + 0.5) / (len(found) + 0.5)), found)
            for term, found in postings.items()
        }

    def ranked(self, text: str) -> list[str]:
        """Ids of turns that share a term with a text, best first."""
        scores: dict[int, float] = defaultdict(float)
        for term in terms(text):
            rarity, found = self._postings.get(term, (0.0, []))
            for at, weight in found:
                scores[at] += rarity * weight
        return [self._ids[at] for at in sorted(scores, key=lambda at: (-scores[at], at))]
