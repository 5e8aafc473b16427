"""Checking how a context block is wanted; a refusal names the field."""

from __future__ import annotations

from api.requests.checks import MAX_QUERY, check_limit, check_query
from events.errors import InputError, refused
from projections.choices import WORKING_MESSAGES
from projections.language.prompt_text import is_chinese
from projections.memory.trust import check_trust
from projections.prompt.block import LEAST_BUDGET, TITLES
from projections.prompt.gathering import Wanted
from projections.prompt.two_parts import stable_room

MOST_BUDGET = 100_000


def context_wanted(
    text: str,
    budget: int,
    threshold: float,
    most_searches: int,
    messages: int,
    sensitive: bool,
    language: str | None,
    trust: str | None,
    split: bool,
    stable_budget: int | None,
) -> Wanted:
    """What was asked for, checked. Raises InputError."""
    try:
        check_query(text)
    except InputError as error:
        raise refused("text", error.context["got"], f"some text in UTF-8 of at most {MAX_QUERY:,} characters") from None
    check_room(budget, threshold)
    if not 0 <= messages <= WORKING_MESSAGES:
        raise refused("messages", messages, f"a whole number from 0 to {WORKING_MESSAGES}")
    if language is not None and language not in TITLES:
        raise refused("language", language, ", ".join(TITLES))
    check_limit(most_searches, 10, "searches")
    titles = language or ("zh" if is_chinese(text) else "en")
    wanted = Wanted(budget, messages, sensitive, titles, threshold, check_trust(trust))
    if stable_budget is not None:
        _check_stable(stable_budget, budget, split)
    return wanted._replace(stable=stable_room(budget, stable_budget), stable_language=language) if split else wanted


def check_room(budget: int, threshold: float) -> None:
    """How much a block may hold, and how close it must be. Raises InputError."""
    if not LEAST_BUDGET <= budget <= MOST_BUDGET:
        raise refused("budget", budget, f"a whole number of tokens from {LEAST_BUDGET} to {MOST_BUDGET}")
    if not 0 <= threshold <= 1:
        raise refused("threshold", threshold, "a number from 0 to 1")


def _check_stable(stable_budget: int, budget: int, split: bool) -> None:
    most = budget - LEAST_BUDGET
    if not split:
        raise refused("stable_budget", stable_budget, "nothing without `split`: one block has no stable part")
    if not 0 <= stable_budget <= most:
        allowed = f"a whole number of tokens from 0 to {most}: the budget without {LEAST_BUDGET} for the turn's part"
        raise refused("stable_budget", stable_budget, allowed)
