"""How sensitive a text is, and an event: 0 public, 1 general, 2 sensitive, 3 secret. Pure, linear in time.

A text is first folded to what a reader would take it for: compatibility forms become plain ones (NFKC), hidden characters go, every
dash is a hyphen, every quote straight, every script's digits are ASCII, traditional characters are simplified, and 零 to 九 in a
row are digits. Misspelt words for a password and numbers said digit by digit are corrected too, if the text holds one: `psswrd`,
`pass word` and 密马 are `password` and 密码, `four four one nine` is `4419`.

Rules match values, never a word such as money, budget, key or password by itself. Detection reads every event, so one automaton
looks up the cues of all rules first. A rule whose cues and signs are not in the text cannot match and is not asked.

The level of an event is the highest of the texts that its producer wrote in it. It is found once, when the event is appended, and
stored next to its body. Folding takes that figure and runs no rules.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import combinations, pairwise
from operator import attrgetter
from typing import Any, get_args

import msgspec
from ahocorasick_rs import BytesAhoCorasick, Implementation

from engramlog_server.events.catalogue import EventData, FactAsserted, FactRetracted
from engramlog_server.events.envelope import AnyEvent, Stored
from engramlog_server.events.text import HIDDEN
from engramlog_server.events.vocabulary import Digest, EventId, Id, Position, Shape, Value, Word
from engramlog_server.projections.language.keywords import without_day
from engramlog_server.projections.language.lexicon import simplified_characters
from engramlog_server.projections.language.patterns import HAN_BLOCK, regex
from engramlog_server.projections.language.sensitivity import codes, credentials, passwords, personal
from engramlog_server.projections.language.sensitivity.rule import (
    NUMBER_WORDS,
    Cues,
    Rule,
    Sign,
    TextReading,
    holds_a_long_run,
    listed,
    positions,
)

_SIGNS = {
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b\u30fb",
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc",
    '"': "\u201c\u201d\u201e\u201f\u2033\u300c\u300d\u300e\u300f\u300a\u300b\u00ab\u00bb",
    "\u2192": "\u21d2\u27a1\u2794\u279c\u27f6\u2b95",
    "": "\u20dd\u20de\u20e3",  # what stands about a digit in a keycap
}
_SIGN_OF = {written: plain for plain, all_written in _SIGNS.items() for written in all_written}
_DIGITS = "零〇一二三四五六七八九幺壹贰叁肆伍陆柒捌玖"
_COUNTED = regex(rf"[{_DIGITS}两](?:[ ,、]?[{_DIGITS}]){{2,31}}")
_AS_DIGITS = str.maketrans(_DIGITS + "两", "0012345678911234567892", " ,、")
_CALLED = regex("(?:1(?:2(?:3(?:4(?:5(?:6(?:7(?:89?)?)?)?)?)?)?)?)+")
"""Digits that are counted aloud and not dictated: 一二三四, 一二一."""
_CONTROLS = bytes(code for code in range(256) if (code < 32 and code not in b"\t\n\r") or code == 127)
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_MOST_CHARACTERS = 1 << 15


class _Folds(dict[int, str]):
    """What each character is read as, found out when it is first met: cheaper than three passes over every text."""

    def __missing__(self, point: int) -> str:
        if len(self) >= _MOST_CHARACTERS:
            self.clear()
        plain = self[point] = read_as(chr(point))
        return plain


def read_as(character: str) -> str:
    """What one character is read as; nothing for one that shows nothing. `statements` reads by it too, under a version."""
    if HIDDEN.match(character):
        return character if character in "\t\n\r" else ""
    plain = unicodedata.normalize("NFKC", character)
    return "".join(_one_read_as(one) for one in plain)


def _one_read_as(character: str) -> str:
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.digit(character))
    return simplified_characters().get(ord(character)) or _SIGN_OF.get(character, character)


_FOLDS = _Folds()


_HAN = range(ord(HAN_BLOCK[0]), ord(HAN_BLOCK[-1]) + 1)


def _changed() -> str:
    changed = sorted(simplified_characters().keys() & set(_HAN))
    runs = pairwise([_HAN.start - 1, *changed, _HAN.stop])
    stays = "".join(f"{chr(before + 1)}-{chr(after - 1)}" for before, after in runs if after - before > 1)
    return rf"[^ -~\t\n\r\u3001\u3002{stays}]+"


CHANGED = regex(_changed)
"""What may be read as something else: all but ASCII, two Chinese stops, and the characters that are simplified already."""
_STOPS = (("\uff0c", ","), ("\uff1f", "?"), ("\uff01", "!"), ("\uff1a", ":"))
"""The most frequent ones, each replaced in a tenth of the time that the table takes."""


def folded(text: str) -> str:
    """The text as the rules read it; at most 18 times as long (one Arabic ligature), mostly no longer than it was."""
    if text.isascii():
        data = text.encode()
        kept = data.translate(None, _CONTROLS)
        return text if len(kept) == len(data) else kept.decode()
    for written, plain in _STOPS:
        text = text.replace(written, plain)
    return _COUNTED.sub(_as_digits, CHANGED.sub(_plainly, text))


def in_lower_case(text: str) -> str:
    """The text in lower case, character by character, so that a position is the same in both."""
    lower = text.lower()
    # A few capitals, such as the Turkish dotted I, have two characters in lower case.
    return lower if len(lower) == len(text) else text.translate(_ASCII_LOWER)


def _plainly(match: re.Match[str]) -> str:
    return match[0].translate(_FOLDS)


def _as_digits(match: re.Match[str]) -> str:
    counted = match[0].translate(_AS_DIGITS)
    return match[0] if _CALLED.fullmatch(counted) else counted


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_RIGHT = frozenset(
    listed("""
    password, passwords, passwort, passcode, passcodes, passphrase, passphrases, passwd, passwds, passkey, passkeys
    passport
    passward, pword, pwd, pswd
""")
)
"""What is a word already, for a password or for something else."""


def _one_edit(word: str) -> Iterator[str]:
    """The words that one letter too many, too few, wrong or exchanged with the next makes of a word."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in _LETTERS:
            yield before + letter + after
            yield before + letter + after[1:]


def _abbreviated() -> Iterator[str]:
    """`password` with letters left out: its p, w and d are there, and so is one of its r or two of the others."""
    for vowel in ("", "a"):
        for sibilants in ("", "s", "ss", "sss"):
            yield from (f"p{vowel}{sibilants}w{end}d" for end in ("", "o", "r", "or", "ro"))


def _misspelt() -> dict[str, str]:
    words: dict[str, str] = {}
    for right in ("password", "passphrase", "passcode"):
        for wrong in _one_edit(right):
            words.setdefault(wrong, right)
        for at in combinations(range(1, len(right)), 2):
            words.setdefault("".join(letter for place, letter in enumerate(right) if place not in at), right)
    words |= dict.fromkeys(_abbreviated(), "password")
    words |= {f"pass{sign}{end}": f"pass{end}" for end in ("word", "phrase", "code") for sign in " -_"}
    return {wrong: right for wrong, right in words.items() if wrong not in _RIGHT and len(wrong) >= 4}


MISSPELT = _misspelt()
MISSPELT_ZH = Cues(
    listed("密马, 蜜码, 蜜马, 秘码, 密玛, 密嘛, 密码码, 密 码, 密.码, 密*码, 密-码, 口今, 囗令, 口 令, 密"), ["mm"]
)
CUES = Cues(MISSPELT, MISSPELT_ZH)

_LATIN = regex(r"(?<![a-z0-9])(?=pa|ps|pw|ap|[a-z]pa|[a-z]as)[a-z]{4,12}(?:[ _-](?:word|phrase|code))?(?![a-z0-9])")
_MISSPELT_HAN = (
    (
        regex(
            "(?<![亲保加紧严精周稠秘])(?<![^开手本款主]机)(?:密[马玛嘛]|蜜[码马]|秘码|密[ .*-]码)"
            f"|(?<![{HAN_BLOCK}])密(?=\\s?[:=\\s]\\s?[!-~]{{4}})|(?<=[录入折卡号])密(?=[:\\s]\\s?[!-~]{{4}})"
            "|(?<![a-z0-9:/.-])(?<!\\d )mm(?=[:是]\\s?[!-~]{4}|\\s是)"
        ),
        "密码",
    ),
    (regex(f"(?:口今(?![天年晚早日后夜时次朝宵儿])|囗令|(?<![{HAN_BLOCK}])口 令)"), "口令"),
)


_BESIDE_NETWORK = regex(r"mm(?:(?<=wifi.mm)|(?<=vpn.mm))(?=:\s?[!-~]{6})")


def corrected(text: str, lower: str) -> tuple[str, str] | None:
    """A folded text and the same in lower case with its words for a password spelt right; None where nothing was wrong."""
    changes = [(*match.span(), MISSPELT[match[0]]) for match in _LATIN.finditer(lower) if match[0] in MISSPELT]
    changes += [(*match.span(), "密码") for match in _BESIDE_NETWORK.finditer(lower)]
    if not lower.isascii():
        changes += [(*match.span(), right) for wrong, right in _MISSPELT_HAN for match in wrong.finditer(lower)]
    if not changes:
        return None
    changes.sort()
    return _with(text, changes), _with(lower, changes)


def _with(text: str, changes: list[tuple[int, int, str]]) -> str:
    """The text with other words from start to end of each change; a change that begins within the one before is left out."""
    parts, done = [], 0
    for start, end, right in changes:
        if start >= done:
            parts += [text[done:start], right]
            done = end
    return "".join([*parts, text[done:]])


_DIGIT_WORDS = dict(
    zip(listed("zero, one, two, three, four, five, six, seven, eight, nine"), "0123456789", strict=True)
)
_VALUES = _DIGIT_WORDS | {"oh": "0", "nought": "0", "naught": "0", "niner": "9"}
_TIMES = {"double": 2, "triple": 3}
STARTING = frozenset(_VALUES) | frozenset(_TIMES)
"""What a row may begin with."""
OF_A_ROW = STARTING - {"one", "two"}
"""Of these one must stand in a row: the two others are in too many texts."""
_WORD = f"(?:{'|'.join(sorted(STARTING, key=len, reverse=True))})"
_ROW = regex(rf"{_WORD}(?:(?:, |[ ,-]){_WORD}){{2,15}}(?![a-z-])")
_IN_ORDER = "01234567890", "9876543210"
"""In this order digits are counted aloud, not told."""
_LEAST = 4
"""Digits: fewer are said of amounts, scores and times."""


def in_digits(text: str, lower: str, keys: Collection[str]) -> tuple[str, str] | None:
    """A folded text and the same in lower case with its rows of words for digits as digits; None where there is no such row.

    `keys` are the words looked up that stand in the text. A row of nothing but ones and twos is not looked for: both stand in
    too many texts.
    """
    words = STARTING.intersection(keys)
    if len(words) < 2 or OF_A_ROW.isdisjoint(words):
        return None
    parts, done = [], 0
    for start in sorted(at for word in words for at in positions(lower, word)):
        if start < done or lower[max(0, start - 1) : start].isalnum() or not (row := _ROW.match(lower, start)):
            continue
        digits = _digits(row[0])
        if len(digits) >= _LEAST and len(set(digits)) > 1 and not any(digits in counted for counted in _IN_ORDER):
            parts.append((start, row.end(), digits))
            done = row.end()
    return (_with(text, parts), _with(lower, parts)) if parts else None


def _digits(row: str) -> str:
    digits, times = "", 1
    for word in re.split("[ ,-]+", row):
        if word in _TIMES:
            times = _TIMES[word]
        else:
            digits, times = digits + _VALUES[word] * times, 1
    return digits


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
_AS_WORDS = bytes(byte if byte in b"abcdefghijklmnopqrstuvwxyz" else 32 for byte in range(256))
_AS_NUMBERS = bytes(48 if byte in b"0123456789" else 45 if byte in b" ().-" else 120 for byte in range(256))
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
        for key in CUES.keys:
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
    misspelt = any(cue in lower for cue in CUES.among(keys))
    return (corrected(text, lower) if misspelt else None) or in_digits(text, lower, keys)


class _Keys:
    """Latin words and phrases, and parts of texts in other scripts; each is told by its number."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.all = sorted(keys, key=lambda key: not key.isascii())
        self._words = sum(map(str.isascii, self.all))

    def words_in(self, data: bytes) -> set[int]:
        """The numbers of the words in a text in lower case with one byte for each character."""
        return {number for number, _, _ in self._found_words(b" %b " % data.translate(_AS_WORDS), True)}

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
    digits = data.translate(_AS_NUMBERS)
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

RULES: tuple[Rule, ...] = (*passwords.RULES, *codes.RULES, *credentials.RULES, *personal.RULES)
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


LEVEL_RULES = 2
"""Version of the rules, from 1. Raise it, and `PROJECTION_VERSION` with it, when they find something else in a known text:
the job `levels` then reads older entries again. Raise it too when another field counts."""
NAME_LENGTH = 40
"""Characters of the longest text whose level is remembered: the same speakers, projects and keywords come again and again."""


def level_of(event: AnyEvent) -> int:
    """0 to 3: the highest over each text that a producer wrote in the event; 0 where there is none. Never raises."""
    return level_of_data(event.data)


def level_of_data(data: EventData) -> int:
    """The same of the data of an event: every text, name, keyword and reason, and a triple as one text; no id."""
    if type(data) in (FactAsserted, FactRetracted):
        return _level(told_by_triple(data))  # type: ignore[arg-type]
    level = PUBLIC
    for value_of in _written(type(data)):
        value = value_of(data)
        if value:
            level = max(level, _level(value) if type(value) is str else highest(words_in(value)))
            if level == SECRET:
                break
    return level


def holds_words(cls: type) -> bool:
    """Whether its producer may write something in an event with such data."""
    return cls in (FactAsserted, FactRetracted) or bool(_written(cls))


def highest(texts: Iterable[str | None]) -> int:
    """The highest level among texts, each judged alone; None and "" count nothing."""
    level = PUBLIC
    for text in texts:
        if text:
            level = max(level, _level(text))
            if level == SECRET:
                break
    return level


_of_name = lru_cache(maxsize=4096)(detect_sensitivity)


def _level(text: str) -> int:
    return _of_name(text) if len(text) <= NAME_LENGTH else detect_sensitivity(text)


def told_by_triple(data: FactAsserted | FactRetracted) -> str:
    """A triple as the rules read it: in one text, for a secret's name stands in one part and the secret in another."""
    return f"{data.subject} {data.predicate} {data.object} {data.condition or ''}"


def judged_under(stored: Stored) -> int:
    """By which version of the rules the entry's level was found; 0 where nobody looked, or none can be read."""
    return int(stored.beside[2].partition(b":")[0]) if stored.level is not None else 0


def level_now(stored: Stored) -> int | None:
    """The entry's level where today's rules said so; None where a text must be looked at."""
    return stored.level if judged_under(stored) == LEVEL_RULES else None


def at_most(level: int, words: str, whole: int | None) -> bool:
    """Whether words are no more sensitive than `level`. `whole`: of the event that they stand in, which may spare the question."""
    return (whole is not None and whole <= level) or detect_sensitivity(words) <= level


_NOT_WRITTEN = (Id, EventId, Word, Position, Digest, Value)
"""Ids, and words without a space: what an event is told by, not what it tells."""


@cache
def _written(cls: type) -> tuple[Callable[[Any], Any], ...]:
    """How to get each field of a shape in which its producer may write; found out once for each."""
    return tuple(attrgetter(field.name) for field in msgspec.structs.fields(cls) if may_hold_words(field.type))


def may_hold_words(kind: Any) -> bool:
    """Whether a producer may write something in a field of this type."""
    if kind in _NOT_WRITTEN:
        return False
    if isinstance(kind, type) and issubclass(kind, Shape):
        return bool(_written(kind))
    return kind is str or any(map(may_hold_words, get_args(kind)))


def words_in(value: Any) -> Iterator[str]:
    """Every text in a value, however deep it lies: of shapes their written fields, of a dict each name with its value, as
    `password: ...` is read in a text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Shape):
        for value_of in _written(type(value)):
            yield from words_in(value_of(value))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from words_in(item)
    elif isinstance(value, dict):
        yield from (f"{name}: {item}" for name, item in value.items())
