"""How sensitive a text is: 0 public, 1 general, 2 sensitive, 3 secret.

Rules match values, never a word such as money, budget, key or password by itself. Detection reads every event, so one automaton
looks up the cues of all rules first. A rule whose cues and signs are not in the text cannot match and is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, cached_property, lru_cache

from ahocorasick_rs import BytesAhoCorasick, Implementation

from engramlog_server.projections.language.sensitivity import (
    answers,
    codes,
    keys,
    locks,
    logins,
    papers,
    passwords,
    personal,
)
from engramlog_server.projections.language.sensitivity.fold import CUES as MISSPELT
from engramlog_server.projections.language.sensitivity.fold import OF_A_ROW, corrected, folded, in_digits, in_lower_case
from engramlog_server.projections.language.sensitivity.rule import Rule, Sign, TextReading, holds_a_long_run
from engramlog_server.projections.language.sensitivity.values import NUMBER_WORDS
from engramlog_server.projections.language.sentences import without_day

# Plain integers: arithmetic on an IntFlag costs more than all the searches below together.
_DIGIT, _FIVE_DIGITS, _SEVEN_DIGITS, _AT, _LONG, _SPOKEN, _WIDE, _WIDE_DIGIT = (
    int(sign)
    for sign in (
        Sign.DIGIT,
        Sign.FIVE_DIGITS,
        Sign.SEVEN_DIGITS,
        Sign.AT,
        Sign.LONG,
        Sign.SPOKEN,
        Sign.WIDE,
        Sign.WIDE_DIGIT,
    )
)
_SIGN_BITS = len(Sign)
_MISSPELT = 1 << _SIGN_BITS
_SAID = 2 << _SIGN_BITS
_READ_AGAIN = _MISSPELT | _SAID
_FIRST = _SIGN_BITS + 2
_ALL_SIGNS = (1 << _SIGN_BITS) - 1
# A text as bytes of a few kinds, so that a run of one kind is looked for at the speed of any other few bytes.
_WORDS = bytes(byte if byte in b"abcdefghijklmnopqrstuvwxyz" else 32 for byte in range(256))
_DIGITS = bytes(48 if byte in b"0123456789" else 45 if byte in b" ().-" else 120 for byte in range(256))
_FIVE, _SEVEN = (re.compile(b"-*+".join([b"0"] * count)) for count in (5, 7))


class Index:
    """Rules by what a text must hold for them to match.

    Signs and rules are held as the bits of one number: the signs below, whether a word may be misspelt, whether digits
    may be said in a row, then the rules in their order.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        bits = dict.fromkeys(NUMBER_WORDS, _SPOKEN)
        for key in OF_A_ROW:
            bits[key] = bits.get(key, 0) | _SAID
        for key in MISSPELT.keys:
            bits[key] = bits.get(key, 0) | _MISSPELT
        for place, rule in enumerate(rules, _FIRST):
            for key in rule.cues.keys:
                bits[key] = bits.get(key, 0) | 1 << place
        self._keys = _Keys(bits)
        self._bits = [bits[key] for key in self._keys.all]
        self._by_signs = lru_cache(maxsize=1 << _SIGN_BITS)(self._opened_by)

    def read(self, text: str, lower: str) -> tuple[TextReading, Sequence[Rule]]:
        """A folded text, with what was found in it, and the rules that can match it in order.

        Its words for a password are spelt right and numbers said digit by digit are digits.
        """
        data = lower.encode("ascii", "replace")
        found, bits = _signs(lower, data), self._bits
        numbers = self._keys.words_in(data)
        if found & _WIDE:
            numbers |= self._keys.parts_in(lower)
        for number in numbers:
            found |= bits[number]
        keys = [self._keys.all[number] for number in numbers]
        if found & _READ_AGAIN and (right := _right(text, lower, keys)):
            return self.read(*right)
        opened, allowed = self._by_signs(found & _ALL_SIGNS)
        asked = (found >> _FIRST | opened) & allowed
        return (TextReading(text, lower, keys), self._at(asked)) if asked else _NONE

    def _opened_by(self, signs: int) -> tuple[int, int]:
        """The rules that one of the signs makes worth asking, and those that need no other."""
        opened = sum(1 << place for place, rule in enumerate(self._rules) if rule.signs & signs)
        return opened, sum(1 << place for place, rule in enumerate(self._rules) if not rule.needs or rule.needs & signs)

    def _at(self, places: int) -> list[Rule]:
        rules = []
        while places:
            lowest = places & -places
            rules.append(self._rules[lowest.bit_length() - 1])
            places ^= lowest
        return rules


_NONE: tuple[TextReading, Sequence[Rule]] = TextReading("", "", ()), ()


def _right(text: str, lower: str, keys: Collection[str]) -> tuple[str, str] | None:
    """The text with its words spelt right, or else with its rows of words for digits as digits; None where neither is needed."""
    # `pass` and `word` stand in many texts, `pass word` in few.
    misspelt = any(cue in lower for cue in MISSPELT.among(keys))
    return (corrected(text, lower) if misspelt else None) or in_digits(text, lower, keys)


class _Keys:
    """Latin words and phrases, and parts of texts in other scripts; each is told by its number."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.all = sorted(keys, key=lambda key: not key.isascii())
        self._words = sum(map(str.isascii, self.all))

    def words_in(self, data: bytes) -> set[int]:
        """The numbers of the words in a text in lower case with one byte for each character."""
        return {number for number, _, _ in self._found_words(b" %b " % data.translate(_WORDS), True)}

    def parts_in(self, lower: str) -> set[int]:
        """The numbers of the other keys that stand in the text."""
        found = self._found_parts(lower.encode("utf-8", "replace"), True)
        return {number + self._words for number, _, _ in found}

    @cached_property
    def _found_words(self) -> _Find:
        """Each word between blanks."""
        return _all_at_once(b" %b " % word.encode() for word in self.all[: self._words])

    @cached_property
    def _found_parts(self) -> _Find:
        return _all_at_once(part.encode() for part in self.all[self._words :])


_Find = Callable[[bytes, bool], list[tuple[int, int, int]]]
"""What finds many words at once, each wherever it stands: its number, where it begins, where it ends."""


def _all_at_once(words: Iterable[bytes]) -> _Find:
    return BytesAhoCorasick(list(words), implementation=Implementation.DFA).find_matches_as_indexes


def _signs(lower: str, data: bytes) -> int:
    signs = 0
    digits = data.translate(_DIGITS)
    if b"0" in digits:
        signs = _DIGIT
        if _FIVE.search(digits):
            signs |= _FIVE_DIGITS | _SEVEN_DIGITS if _SEVEN.search(digits) else _FIVE_DIGITS
        if holds_a_long_run(data if lower.isascii() else lower.encode("utf-8", "replace")):
            signs |= _LONG
    if b"@" in data:
        signs |= _AT
    if not lower.isascii():
        signs |= _WIDE_DIGIT | _WIDE if signs & _DIGIT else _WIDE
    return signs


PUBLIC, GENERAL, SENSITIVE, SECRET = range(4)

_SECRETS = (passwords, papers, codes, locks, logins, keys, answers)
RULES: tuple[Rule, ...] = tuple(rule for module in (*_SECRETS, personal) for rule in module.RULES)
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
