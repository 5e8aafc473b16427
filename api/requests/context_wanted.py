"""Checking how a context block is wanted; a refusal names the field."""

from __future__ import annotations

from api.choices import MOST_BUDGET
from api.requests.checks import MAX_QUERY, check_query
from events.errors import InputError, refused
from projections.choices import WORKING_MESSAGES
from projections.language.prompt_text import is_chinese
from projections.memory.trust import check_trust
from projections.prompt.block import LEAST_BUDGET, TITLES
from projections.prompt.gathering import Wanted
from projections.prompt.message import RELATED
from projections.prompt.stable import stable_room


def context_wanted(
    text: str,
    budget: int,
    threshold: float,
    messages: int,
    sensitive: bool,
    language: str | None,
    trust: str | None,
    stable_budget: int | None,
    related: str,
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
    titles = language or ("zh" if is_chinese(text) else "en")
    asked = next((way for way in RELATED if way == related), None)
    if asked is None:
        raise refused("related", related, ", ".join(RELATED))
    if stable_budget is not None and not 0 <= stable_budget <= budget - LEAST_BUDGET:
        most = budget - LEAST_BUDGET
        allowed = f"a whole number of tokens from 0 to {most}: the budget without {LEAST_BUDGET} for the turn part"
        raise refused("stable_budget", stable_budget, allowed)
    room = stable_room(budget, stable_budget)
    return Wanted(budget, messages, sensitive, titles, threshold, check_trust(trust), room, language, asked)


def check_room(budget: int, threshold: float) -> None:
    """How much a block may hold, and how close it must be. Raises InputError."""
    if not LEAST_BUDGET <= budget <= MOST_BUDGET:
        raise refused("budget", budget, f"a whole number of tokens from {LEAST_BUDGET} to {MOST_BUDGET}")
    if not 0 <= threshold <= 1:
        raise refused("threshold", threshold, "a number from 0 to 1")
