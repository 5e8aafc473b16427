"""How sensitive a text is: 0 public, 1 general, 2 sensitive, 3 secret (seed 002, "Sensitive information").

Rules match values, never a word such as money, budget, key or password by itself. Detection reads every event, so what stands in
the text is looked up first for all rules at once (`index`), and only the rules are asked that can match.
"""

from __future__ import annotations

from functools import cache

from engramlog_server.projections.language.said_on import without_day
from engramlog_server.projections.language.sensitivity import (
    answers,
    background,
    codes,
    contact,
    keys,
    locks,
    logins,
    papers,
    passwords,
    private,
)
from engramlog_server.projections.language.sensitivity.fold import folded, in_lower_case
from engramlog_server.projections.language.sensitivity.index import Index
from engramlog_server.projections.language.sensitivity.rule import Rule

PUBLIC, GENERAL, SENSITIVE, SECRET = range(4)

_SECRETS = (passwords, papers, codes, locks, logins, keys, answers)
RULES: tuple[Rule, ...] = tuple(rule for module in (*_SECRETS, contact, private, background) for rule in module.RULES)
"""Most sensitive first."""


@cache
def _index() -> Index:
    return Index(RULES)


def detect_sensitivity(text: str) -> int:
    """The level of the text, 0 to 3: the highest among the rules that match it. Never raises, whatever the text.

    Time grows in step with the length of the text.
    """
    text = folded(without_day(text))
    read, rules = _index().read(text, in_lower_case(text))
    for rule in rules:
        if rule.matches(read):
            return rule.level
    return PUBLIC


def reasons(text: str) -> list[str]:
    """The names of the rules that match, most sensitive first, each once; never a value out of the text."""
    text = folded(without_day(text))
    read, rules = _index().read(text, in_lower_case(text))
    return list(dict.fromkeys(rule.name for rule in rules if rule.matches(read)))
