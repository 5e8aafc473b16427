"""Whether the context block holds the whole evidence of a question, by its budget of tokens, in normal mode."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from benchmarks.dataset import Dataset, Question
from benchmarks.vectors import Meanings
from engramlog_server.projections.language.prompt_text import estimated_tokens, is_chinese
from engramlog_server.projections.memory.working_memory import conversation
from engramlog_server.projections.prompt.block import Block
from engramlog_server.projections.prompt.gathering import (
    AskedTurn,
    Wanted,
    always,
    material,
    named_in,
    related,
    rules_of,
)
from engramlog_server.projections.prompt.lines import sensitivity_allowed
from engramlog_server.projections.prompt.message import decided, query_of, read_message
from engramlog_server.projections.prompt.stable import in_two, stable_part, stable_room
from engramlog_server.projections.ranking.rankings import closenesses
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import SearchRequest
from engramlog_server.projections.shapes import Hit

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
