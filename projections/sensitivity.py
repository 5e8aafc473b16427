"""How sensitive a text is: 0 public, 1 general, 2 sensitive, 3 secret (seed 002, "Sensitive information").

Rules match values, never a word such as money, budget, key or password by itself. Detection reads every event, so a few
cheap signs are looked for first, and only the rules that they make possible are asked.
"""

from __future__ import annotations

import re
from functools import lru_cache

from projections import (
    sensitivity_answers,
    sensitivity_background,
    sensitivity_codes,
    sensitivity_contact,
    sensitivity_keys,
    sensitivity_logins,
    sensitivity_opened,
    sensitivity_papers,
    sensitivity_passwords,
    sensitivity_private,
    sensitivity_said,
    sensitivity_said_chinese,
    sensitivity_secrets,
    sensitivity_tongues,
    sensitivity_wallets,
)
from projections.sensitivity_fold import folded, in_lower_case
from projections.sensitivity_numbers import regions
from projections.sensitivity_rule import LONG, Rule, Sign, word_of

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
    *sensitivity_papers.RULES,
    *sensitivity_keys.RULES,
    *sensitivity_wallets.RULES,
    *sensitivity_answers.RULES,
    *sensitivity_contact.RULES,
    *sensitivity_private.RULES,
    *sensitivity_background.RULES,
)
"""Most sensitive first."""

# Plain integers: arithmetic on an IntFlag costs more than all the searches below together.
_DIGIT, _NUMBER, _SEVEN_DIGITS, _AT, _LONG, _ZH_DIGIT, _IS_A = (
    int(sign) for sign in (Sign.DIGIT, Sign.NUMBER, Sign.SEVEN_DIGITS, Sign.AT, Sign.LONG, Sign.ZH_DIGIT, Sign.IS_A)
)
_WITHOUT_DIGITS = ~int(Sign.LOGIN | Sign.GIVEN | Sign.PAY | Sign.BIRTH | Sign.WIRELESS)
"""What these words go with has a digit."""
_NUMBER_IN = re.compile(r"[0-9](?:[ ().-]{0,2}[A-Za-z]{0,3}[0-9]){3}")
_CUES = {
    Sign.PASSWORD: (*sensitivity_passwords.WORDS, *map(word_of, sensitivity_said.PASSWORDS)),
    Sign.KEPT: map(word_of, (*sensitivity_said.WORDS_KEPT, *sensitivity_said.NAMED)),
    Sign.LOGIN: map(word_of, (*sensitivity_said.LOGINS, *sensitivity_said.USERS)),
    Sign.GIVEN: map(word_of, sensitivity_said.GIVEN),
    Sign.CODE: map(word_of, (*sensitivity_codes.CODES, *sensitivity_codes.PATTERNS)),
    Sign.OPENING: map(
        word_of,
        (
            *sensitivity_opened.OPENING,
            *sensitivity_opened.LOCKS,
            *sensitivity_opened.MACHINES,
            *sensitivity_opened.SENT,
            *sensitivity_opened.BACKS,
            *sensitivity_opened.CONTROLS,
        ),
    ),
    Sign.LOGGED: map(word_of, sensitivity_logins.PLACES),
    Sign.TONGUE: map(word_of, sensitivity_tongues.LATIN),
    Sign.PAPER: map(word_of, sensitivity_papers.SPELLED),
    Sign.KEY: map(word_of, sensitivity_keys.KEYS),
    Sign.SEED: map(word_of, sensitivity_wallets.SEEDS),
    Sign.QUESTION: sensitivity_answers.WORDS,
    Sign.HEALTH: map(word_of, sensitivity_private.HEALTH),
    Sign.ORIENTATION: map(word_of, sensitivity_private.ORIENTATION),
    Sign.PAY: map(word_of, sensitivity_private.PAY),
    Sign.BIRTH: map(word_of, sensitivity_private.BIRTH),
    Sign.WIRELESS: sensitivity_said.WIRELESS,
    Sign.PLACE: sensitivity_contact.PLACES,
    Sign.CONTACT: sensitivity_contact.CONTACTS,
    Sign.WORK: sensitivity_background.WORK,
    Sign.STUDY: sensitivity_background.STUDY,
}


def _by_word() -> dict[bytes, int]:
    signs: dict[bytes, int] = {}
    for sign, words in _CUES.items():
        for word in filter(None, words):
            signs[word.encode()] = signs.get(word.encode(), 0) | int(sign)
    return signs


_SIGNS_OF_WORD = _by_word()
_KNOWN_WORDS = frozenset(_SIGNS_OF_WORD)
_LETTERS_ONLY = bytes(byte | 32 if chr(byte).isalpha() and byte < 128 else 32 for byte in range(256))
_NO_DIGITS = bytes(set(range(256)) - set(b"0123456789"))

_ZH_CUES = (
    *sensitivity_said_chinese.SECRECY,
    *sensitivity_said_chinese.CODES,
    *sensitivity_said.LOGINS,
    *sensitivity_said.SERVICES,
    *sensitivity_said.NETWORKS,
    *sensitivity_keys.KEYS,
    *sensitivity_wallets.SEEDS,
    *sensitivity_answers.QUESTIONS_ZH,
    *sensitivity_passwords.WORDS_ZH,
    *sensitivity_tongues.OTHER,
    *sensitivity_logins.PLACES,
)
# Alternatives of nothing but literals, which the regular expression engine skips to by their first characters.
_ZH_WORDS = {
    Sign.ZH_SECRET: "|".join(dict.fromkeys(cue for cue in _ZH_CUES if not cue.isascii())),
    Sign.ZH_PLACE: sensitivity_contact.PLACES_ZH,
    Sign.ZH_BACKGROUND: sensitivity_background.SIGNS_ZH,
    Sign.ZH_PRIVATE: sensitivity_private.WORDS_ZH,
}
_ZH_ANY = re.compile("|".join(_ZH_WORDS.values()))
_ZH_EACH = tuple((int(sign), re.compile(words)) for sign, words in _ZH_WORDS.items())


def detect_sensitivity(text: str) -> int:
    """The level of the text, 0 to 3: the highest among the rules that match it. Never raises, whatever the text.

    Time grows in step with the length of the text: about 0.2 us a character of long prose.
    """
    text = folded(text)
    signs = _signs(text)
    if signs:
        lower = in_lower_case(text)
        for rule in _asked(signs):
            if rule.matches(text, lower):
                return rule.level
    return PUBLIC


def reasons(text: str) -> list[str]:
    """The names of the rules that match, most sensitive first, each once; never a value out of the text."""
    text = folded(text)
    lower = in_lower_case(text)
    return list(dict.fromkeys(rule.name for rule in _asked(_signs(text)) if rule.matches(text, lower)))


_MASKS = tuple((int(rule.sign), rule) for rule in RULES)


@lru_cache(maxsize=4096)
def _asked(signs: int) -> tuple[Rule, ...]:
    return tuple(rule for mask, rule in _MASKS if mask & signs)


def _signs(text: str) -> int:
    """The signs that a folded text holds. Byte translation and sets of words beat regular expressions."""
    plain = text.isascii()
    data = text.encode("utf-8", "replace")
    signs = 0
    if digits := len(data.translate(None, _NO_DIGITS)):
        signs = _DIGIT if plain else _DIGIT | _ZH_DIGIT
        if digits >= 4 and _NUMBER_IN.search(text):
            signs |= _NUMBER
            if digits >= 7 and regions(text):
                signs |= _SEVEN_DIGITS
        if max(map(len, data.split())) >= LONG:
            signs |= _LONG
    if "@" in text:
        signs |= _AT
    for word in _KNOWN_WORDS.intersection(data.translate(_LETTERS_ONLY).split()):
        signs |= _SIGNS_OF_WORD[word]
    if not digits:
        signs &= _WITHOUT_DIGITS
    if b" a" in data and (b"m a" in data or b"s a" in data or b"M A" in data or b"S A" in data):
        signs |= _IS_A
    if not plain and _ZH_ANY.search(text):
        for sign, words in _ZH_EACH:
            if words.search(text):
                signs |= sign
    return signs
