"""How sensitive a text is: 0 public, 1 general, 2 sensitive, 3 secret (seed 002, "Sensitive information").

Rules match values, never a word such as money, budget, key or password by itself. Detection reads every event, so what stands in
the text is looked up first for all rules at once (`index`), and only the rules are asked that can match.
"""

from __future__ import annotations

from engramlog_server.projections.language.said_on import without_day
from engramlog_server.projections.language.sensitivity import background as sensitivity_background
from engramlog_server.projections.language.sensitivity import contact as sensitivity_contact
from engramlog_server.projections.language.sensitivity import private as sensitivity_private
from engramlog_server.projections.language.sensitivity.fold import folded, in_lower_case
from engramlog_server.projections.language.sensitivity.index import Index
from engramlog_server.projections.language.sensitivity.rule import Rule
from engramlog_server.projections.language.sensitivity.secrets import answers as sensitivity_answers
from engramlog_server.projections.language.sensitivity.secrets import assigned as sensitivity_assigned
from engramlog_server.projections.language.sensitivity.secrets import codes as sensitivity_codes
from engramlog_server.projections.language.sensitivity.secrets import entered as sensitivity_entered
from engramlog_server.projections.language.sensitivity.secrets import grouped as sensitivity_grouped
from engramlog_server.projections.language.sensitivity.secrets import keyed as sensitivity_keyed
from engramlog_server.projections.language.sensitivity.secrets import keys as sensitivity_keys
from engramlog_server.projections.language.sensitivity.secrets import logins as sensitivity_logins
from engramlog_server.projections.language.sensitivity.secrets import opened as sensitivity_opened
from engramlog_server.projections.language.sensitivity.secrets import papers as sensitivity_papers
from engramlog_server.projections.language.sensitivity.secrets import passwords as sensitivity_passwords
from engramlog_server.projections.language.sensitivity.secrets import said as sensitivity_said
from engramlog_server.projections.language.sensitivity.secrets import said_chinese as sensitivity_said_chinese
from engramlog_server.projections.language.sensitivity.secrets import sent as sensitivity_sent
from engramlog_server.projections.language.sensitivity.secrets import themselves as sensitivity_secrets
from engramlog_server.projections.language.sensitivity.secrets import told as sensitivity_told
from engramlog_server.projections.language.sensitivity.secrets import tongues as sensitivity_tongues
from engramlog_server.projections.language.sensitivity.secrets import wallets as sensitivity_wallets
from engramlog_server.projections.language.sensitivity.secrets import words_agreed as sensitivity_words_agreed

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

    Time grows in step with the length of the text.
    """
    text = folded(without_day(text))
    read, rules = _INDEX.read(text, in_lower_case(text))
    for rule in rules:
        if rule.matches(read):
            return rule.level
    return PUBLIC


def reasons(text: str) -> list[str]:
    """The names of the rules that match, most sensitive first, each once; never a value out of the text."""
    text = folded(without_day(text))
    read, rules = _INDEX.read(text, in_lower_case(text))
    return list(dict.fromkeys(rule.name for rule in rules if rule.matches(read)))
