"""How sensitive a text is: 0 public, 1 general, 2 sensitive, 3 secret (seed 002, "Sensitive information").

Rules match values, never a word such as money, budget, key or password by itself. Detection reads every event, so what stands in
the text is looked up first for all rules at once (`sensitivity_index`), and only the rules are asked that can match.
"""

from __future__ import annotations

from projections import (
    sensitivity_answers,
    sensitivity_assigned,
    sensitivity_background,
    sensitivity_codes,
    sensitivity_contact,
    sensitivity_entered,
    sensitivity_grouped,
    sensitivity_keyed,
    sensitivity_keys,
    sensitivity_logins,
    sensitivity_opened,
    sensitivity_papers,
    sensitivity_passwords,
    sensitivity_private,
    sensitivity_said,
    sensitivity_said_chinese,
    sensitivity_secrets,
    sensitivity_sent,
    sensitivity_told,
    sensitivity_tongues,
    sensitivity_wallets,
    sensitivity_words_agreed,
)
from projections.sensitivity_fold import folded, in_lower_case
from projections.sensitivity_index import Index
from projections.sensitivity_rule import Rule

PUBLIC, GENERAL, SENSITIVE, SECRET = range(4)

RULES: tuple[Rule, ...] = (
    *sensitivity_passwords.RULES,
    *sensitivity_secrets.RULES,
    *sensitivity_said.RULES,
    *sensitivity_codes.RULES,
    *sensitivity_said_chinese.RULES,
    *sensitivity_opened.RULES,
    *sensitivity_tongues.RULES,
    *sensitivity_logins.RULES,
    *sensitivity_told.RULES,
    *sensitivity_sent.RULES,
    *sensitivity_keyed.RULES,
    *sensitivity_entered.RULES,
    *sensitivity_grouped.RULES,
    *sensitivity_assigned.RULES,
    *sensitivity_words_agreed.RULES,
    *sensitivity_papers.RULES,
    *sensitivity_keys.RULES,
    *sensitivity_wallets.RULES,
    *sensitivity_answers.RULES,
    *sensitivity_contact.RULES,
    *sensitivity_private.RULES,
    *sensitivity_background.RULES,
)
"""Most sensitive first."""

_INDEX = Index(RULES)


def detect_sensitivity(text: str) -> int:
    """The level of the text, 0 to 3: the highest among the rules that match it. Never raises, whatever the text.

    Time grows in step with the length of the text: see ADR 0029 for how long it takes.
    """
    text = folded(text)
    read, rules = _INDEX.read(text, in_lower_case(text))
    for rule in rules:
        if rule.matches(read):
            return rule.level
    return PUBLIC


def reasons(text: str) -> list[str]:
    """The names of the rules that match, most sensitive first, each once; never a value out of the text."""
    text = folded(text)
    read, rules = _INDEX.read(text, in_lower_case(text))
    return list(dict.fromkeys(rule.name for rule in rules if rule.matches(read)))
