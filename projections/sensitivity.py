"""How sensitive a text is: 0 public, 1 general, 2 sensitive, 3 secret (seed 002, "Sensitive information").

Rules match values, never a word such as money, budget, key or password by itself. Detection reads every event, so a few
cheap signs are looked for first, and only the rules that they make possible are asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

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

# Plain integers: arithmetic on an IntFlag costs more than all the searches below together.
_DIGIT, _SEVEN_DIGITS, _AT, _PASSWORD, _IS_A, _ZH_DIGIT, _ZH_PASSWORD, _ZH_PLACE, _ZH_BACKGROUND, _WORK, _STUDY = (
    int(sign) for sign in Sign
)

_NO_DIGITS = bytes(set(range(256)) - set(b"0123456789"))
_NO_ENGLISH = bytes(byte for byte in range(256) if not (byte < 128 and (chr(byte).isalnum() or byte == ord("@"))))
_FULL_WIDTH = re.compile("[\uff10-\uff19\uff20-\uff3a\uff41-\uff5a]")
_ZH_SECRECY = "密码|口令|通行码|助记词"
_ZH_PLACE_WORDS = "大道|胡同|住在|家在|路|街|巷|弄|址"
# Alternatives of nothing but literals, which the regular expression engine skips to by their first characters.
_ZH_ANY = re.compile("|".join([_ZH_SECRECY, _ZH_PLACE_WORDS, sensitivity_background.SIGNS_ZH]))
_ZH_EACH = tuple(
    (sign, re.compile(words))
    for sign, words in (
        (_ZH_PASSWORD, _ZH_SECRECY),
        (_ZH_PLACE, _ZH_PLACE_WORDS),
        (_ZH_BACKGROUND, sensitivity_background.SIGNS_ZH),
    )
)
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def detect_sensitivity(text: str) -> int:
    """The level of the text, 0 to 3: the highest among the rules that match it. Never raises, whatever the text."""
    signs = _signs(text)
    if not signs:
        return PUBLIC
    return next((rule.level for rule in _matching(text, signs)), PUBLIC)


def reasons(text: str) -> list[str]:
    """The names of the rules that match, most sensitive first, each once; never a value out of the text."""
    return list(dict.fromkeys(rule.name for rule in _matching(text, _signs(text))))


def _matching(text: str, signs: int) -> Iterator[Rule]:
    text = _plain(text)
    lower = text.lower()
    if len(lower) != len(text):  # a few capitals, such as the Turkish dotted I, have two characters in lower case
        lower = text.translate(_ASCII_LOWER)
    return (rule for rule in _asked(signs) if rule.matches(text, lower))


@cache
def _asked(signs: int) -> tuple[Rule, ...]:
    return tuple(rule for rule in RULES if rule.sign & signs)


def _plain(text: str) -> str:
    """The text with full-width letters, digits and at signs as ASCII."""
    return text if text.isascii() or not _FULL_WIDTH.search(text) else unicodedata.normalize("NFKC", text)


def _signs(text: str) -> int:
    """The signs that the text holds. Plain `in` and byte translation beat regular expressions on ASCII."""
    if text.isascii():
        return _ascii_signs(text, text.encode())
    text = _plain(text)
    signs = 0
    if _ZH_ANY.search(text):
        for sign, words in _ZH_EACH:
            if words.search(text):
                signs |= sign
    data = text.encode("utf-8", "replace").translate(None, _NO_ENGLISH)
    if not data:
        return signs
    signs |= _ascii_signs(text, data)
    return signs | _ZH_DIGIT if signs & _DIGIT else signs


def _ascii_signs(text: str, data: bytes) -> int:
    """The signs in ASCII characters; `data` holds at least the digits."""
    signs = 0
    digits = len(data.translate(None, _NO_DIGITS))
    if digits:
        signs = _DIGIT if digits < 7 else _DIGIT | _SEVEN_DIGITS
    lower = text.lower()
    if "@" in lower:
        signs |= _AT
    if "passw" in lower or "phrase" in lower or "pwd" in lower:
        signs |= _PASSWORD
    if "m a " in lower or "s a " in lower or "s an " in lower or "m an " in lower:
        signs |= _IS_A
    if "work" in lower or "job" in lower or "profess" in lower:
        signs |= _WORK
    if "stud" in lower or "graduat" in lower or "degree" in lower or "major" in lower:
        signs |= _STUDY
    return signs
