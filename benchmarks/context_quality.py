"""Whether the context block holds the whole evidence of a question, by its budget of tokens, in normal mode."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from benchmarks.dataset import Dataset, Question
from benchmarks.vectors import Meanings
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

BUDGETS = (500, 1_000, 2_000)
CANDIDATES = 20
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
    request = SearchRequest(search_mode=mode, reasons=False, most_sensitive=sensitivity_allowed(sensitive=False))
    found = list[Valued]()
    for query in searches(text, MOST_SEARCHES):
        sense = None if meanings is None else meanings.asked(at.view, query)
        results = search(at, query, CANDIDATES, request, sense)["results"]
        found.append(Valued(results, closenesses(at.view, query, results)))
    language, blocks = "zh" if is_chinese(text) else "en", list[Block]()
    for budget in budgets:
        wanted = Wanted(budget, 0, sensitive=False, language=language, threshold=THRESHOLD, trust=0)
        rules, turn = rules_of(at.view, wanted), AskedTurn(text, conversation((), text))
        holds = always(at.view, at.now, turn.talk, rules)
        close, _ = brought_up(at.view, at.now, found, turn, wanted, rules, holds)
        blocks.append(build(material(at.view, at.now, 0, turn, 0, rules, holds, close), budget, language))
    return blocks
