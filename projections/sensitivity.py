"""How sensitive a text is: 0 public, 1 general, 2 sensitive, 3 secret (seed 002, "Sensitive information").

Rules match values, never a word such as money, budget, key or password by itself. Detection reads every event, so a few
cheap signs are looked for first, and only the rules that they make possible are asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from projections import sensitivity_background, sensitivity_contact, sensitivity_passwords, sensitivity_secrets
from projections.sensitivity_rule import Rule, Sign

PUBLIC, GENERAL, SENSITIVE, SECRET = range(4)

RULES: tuple[Rule, ...] = (
    *sensitivity_passwords.RULES,
    *sensitivity_secrets.RULES,
    *sensitivity_contact.RULES,
    *sensitivity_background.RULES,
)
"""Most sensitive first."""

_DIGIT, _SEVEN_DIGITS, _AT, _PASSWORD, _PLACE, _BACKGROUND = (
    int(sign) for sign in (Sign.DIGIT, Sign.SEVEN_DIGITS, Sign.AT, Sign.PASSWORD, Sign.PLACE, Sign.BACKGROUND)
)
_BY_SIGNS = tuple((int(rule.signs), rule) for rule in RULES)
_NO_DIGITS = bytes(byte for byte in range(256) if not 48 <= byte <= 57)
_FULL_WIDTH = re.compile("[\uff10-\uff19\uff20-\uff3a\uff41-\uff5a]")
_ZH_PASSWORD = re.compile("密码|口令|通行码|助记词")
_ZH_PLACE = re.compile("[地住]址|住在|家在")
_ZH_BACKGROUND = re.compile(
    "工作|上班|任职|职|毕业|读|主修|学[历院位校]|大学|[高中]中|专业|从事|担任|[老教]师|教[书授]|[是当做]"
)


def detect_sensitivity(text: str) -> int:
    """The level of the text, 0 to 3: the highest among the rules that match it. Never raises, whatever the text."""
    signs = _signs(text)
    if not signs:
        return PUBLIC
    for rule in _matching(text, signs):
        return rule.level
    return PUBLIC


def reasons(text: str) -> list[str]:
    """The names of the rules that match, most sensitive first, each once; never a value out of the text."""
    return list(dict.fromkeys(rule.name for rule in _matching(text, _signs(text))))


def _matching(text: str, signs: int) -> Iterator[Rule]:
    if not text.isascii() and _FULL_WIDTH.search(text):
        text = unicodedata.normalize("NFKC", text)
    return (rule for asked_for, rule in _BY_SIGNS if asked_for & signs and rule.matches(text))


def _signs(text: str) -> int:
    """The signs that the text holds. Plain `in` and one byte translation beat any regular expression on ASCII."""
    if text.isascii():
        data, signs = text.encode(), 0
    else:
        if _FULL_WIDTH.search(text):
            text = unicodedata.normalize("NFKC", text)
        data, signs = text.encode("utf-8", "replace"), _zh_signs(text)
    digits = len(data.translate(None, _NO_DIGITS))
    if digits:
        signs |= _DIGIT if digits < 7 else _DIGIT | _SEVEN_DIGITS
    if "@" in text:
        signs |= _AT
    lower = text.lower()
    if "passw" in lower or "phrase" in lower or "pwd" in lower or "passc" in lower:
        signs |= _PASSWORD
    if (
        "work" in lower
        or " a " in lower
        or "job" in lower
        or "stud" in lower
        or "graduat" in lower
        or "degree" in lower
        or "major" in lower
    ):
        signs |= _BACKGROUND
    return signs


def _zh_signs(text: str) -> int:
    signs = 0
    if _ZH_PASSWORD.search(text):
        signs |= _PASSWORD
    if _ZH_PLACE.search(text):
        signs |= _PLACE
    if _ZH_BACKGROUND.search(text):
        signs |= _BACKGROUND
    return signs
