"""What a sensitivity rule is: what a text must hold for it to be asked at all, what it asks then, and how a secret's value looks.

A folded text's words for things are found once, for all rules together: cutting a text into words and looking all of them up in
one set costs less than one search for each of a few words. So rules name the words and phrases they go by (`Cues`), and about
those alone, as far as they stand in the text, is it read closely.
Pieces are at most one for each `SPACING` characters and a few, so all of them together are a few times as long as the text: time
grows in step with its length.

The shape of a value (a password's mixture of characters, a key's randomness, a number said in words) never decides alone: rules
ask for it near a word for a secret. So these functions may be generous about what people type and strict about what programs,
addresses, dates and names of things look like. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, KeysView
from dataclasses import dataclass
from enum import IntFlag
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

from engramlog_server.projections.language.lexicon import rows
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.calendar import MONTH_STARTS, WEEKDAY

LONG = 17
"""Characters: no shorter run is an issued key."""


class Sign(IntFlag):
    """What a text must hold for some rules to be able to match: looked for in every text, so each must be cheap."""

    DIGIT = 1
    """At least one ASCII digit."""
    FIVE_DIGITS = 2
    """At least five in one run, with nothing but blanks and ( ) . - between them: an account's or a paper's number."""
    SEVEN_DIGITS = 4
    """At least seven, so: a telephone or card number needs them."""
    AT = 8
    """The character @."""
    LONG = 16
    """At least `LONG` bytes without white space, in a text with a digit: an issued key or a token is that long."""
    SPOKEN = 32
    """A word for a number."""
    WIDE = 64
    """A character that is not ASCII."""
    WIDE_DIGIT = 128
    """Both a digit and a character that is not ASCII."""


NO_SIGN = Sign(0)

BEFORE, AFTER = 56, 96
"""Characters that are read before a word and after it, within its lines."""
FREE, SPACING = 16, 32
"""Where more words stand than `FREE` and one for each `SPACING` characters, the last of those that crowd is read."""


class Piece(NamedTuple):
    """A part of a folded text about a word: as written, in lower case, and where the word stands in it."""

    text: str
    lower: str
    at: int
    end: int

    @property
    def before(self) -> str:
        """What stands before the word, in lower case."""
        return self.lower[: self.at]

    @property
    def after(self) -> str:
        """What stands after the word, in lower case."""
        return self.lower[self.end :]

    @property
    def word(self) -> str:
        """The word itself, in lower case."""
        return self.lower[self.at : self.end]


def pieces(
    text: str, lower: str, found: Iterable[tuple[int, int]], before: int = BEFORE, after: int = AFTER
) -> Iterator[Piece]:
    """About each of the places, in their order; of pieces that are alike the first: a text may repeat a word thousands of times."""
    seen: set[Piece] = set()
    for start, end in found:
        first = max(0, start - before, lower.rfind("\n", max(0, start - before), start) + 1)
        last = _line_end(lower, end, min(len(lower), end + after))
        piece = Piece(text[first:last], lower[first:last], start - first, end - first)
        if piece not in seen:
            seen.add(piece)
            yield piece


def ends_of(lower: str, words: Iterable[str]) -> dict[int, int]:
    """Where the words stand, crowded or not: each end with its start. Of words that end in one place the longest counts.

    A Latin word counts only where no letter stands beside it.
    """
    starts: dict[int, int] = {}
    for word in words:
        at = lower.find(word)
        while at >= 0:
            end = at + len(word)
            if not word.isascii() or not within(lower, at, end):
                starts[end] = min(at, starts.get(end, at))
            at = lower.find(word, end)
    return starts


def positions(text: str, part: str) -> Iterator[int]:
    """Where a part begins in a text, in order."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def spaced(lower: str, starts: dict[int, int]) -> list[tuple[int, int]]:
    """The places in reading order: (start, end). Of those that crowd the last."""
    if len(starts) > FREE + len(lower) // SPACING:
        starts = dict({end // SPACING: (end, starts[end]) for end in sorted(starts)}.values())
    return [(starts[end], end) for end in sorted(starts)]


def joined(windows: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Windows in reading order, those as one that meet: however many there are, no character is read twice."""
    first = last = -1
    for start, end in windows:
        if start > last:
            if last >= 0:
                yield first, last
            first = start
        last = max(last, end)
    if last >= 0:
        yield first, last


def within(lower: str, start: int, end: int) -> bool:
    """Whether small Latin letters continue this word; digits continue one that begins with a digit: `2fa` in a hash."""
    if letter_at(lower, start - 1) or letter_at(lower, end):
        return True
    return lower[start].isdecimal() and (lower[start - 1 : start].isdecimal() or lower[end : end + 1].isdecimal())


def letter_at(lower: str, at: int) -> bool:
    """Whether a small Latin letter stands there."""
    return 0 <= at < len(lower) and "a" <= lower[at] <= "z"


def _line_end(lower: str, start: int, limit: int) -> int:
    """The end of the line, or of the next one where nothing but signs stand on the rest of this."""
    end = lower.find("\n", start, limit)
    if end >= 0 and not lower[start:end].strip(' :=->\u2192.*`\r"'):
        end = lower.find("\n", end + 1, limit)
    return limit if end < 0 else end


_TELLING = regex("[0-9]|[Ww][Ii][Ff][Ii]:")


_FREQUENT = frozenset(["code", "file", "first", "number", "people", "company", "collection", "screen"])


def key_of(cue: str, *, by_word: bool = False) -> str:
    """By what a cue is looked up: words one blank apart are by all of them, unless by one word; any other by its longest Latin
    word, the first of equals, of those that are not in every other text.

    Of words of one letter it is the last; a cue without Latin words is looked up as it is.
    """
    if not by_word and " " in cue and cue.isascii() and cue.replace(" ", "").isalpha():
        return cue
    words = re.findall("[a-z]{2,}", cue) or re.findall("[a-z]", cue)[-1:]
    return max([word for word in words if word not in _FREQUENT] or words, key=len, default=cue)


@cache
def _lists() -> dict[str, tuple[str, ...]]:
    lists: dict[str, tuple[str, ...]] = {}
    for row in rows("sensitivity"):
        (name,) = row["list"]
        lists[name] = lists.get(name, ()) + row["english"] + row["chinese"]
    return lists


class Words:
    """The words of one list in `lexicon/sensitivity.tsv`, read at first use. Raises KeyError if there is no such list."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self)

    def __iter__(self) -> Iterator[str]:
        return iter(_lists()[self._name])

    def __contains__(self, word: str) -> bool:
        return word in self._words

    def isdisjoint(self, words: Iterable[str]) -> bool:
        """Whether none of the words is in the list."""
        return self._words.isdisjoint(words)


class Cues:
    """Words and phrases, in lower case, by which a rule goes: none of it can match a text that holds none of them.

    `by_word`: it also goes by one word of a phrase, or by a phrase that ends a longer word.
    """

    def __init__(self, *lists: Iterable[str], by_word: bool = False) -> None:
        self._lists, self._by_word = lists, by_word

    @cached_property
    def _by_key(self) -> dict[str, tuple[str, ...]]:
        by_key: dict[str, tuple[str, ...]] = {}
        for cue in dict.fromkeys(chain(*self._lists)):
            key = key_of(cue, by_word=self._by_word)
            by_key[key] = (*by_key.get(key, ()), cue)
        return by_key

    @property
    def keys(self) -> KeysView[str]:
        """What the cues are looked up by: whole Latin words, and parts of texts in other scripts."""
        return self._by_key.keys()

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._by_key.values())

    def among(self, keys: Iterable[str]) -> list[str]:
        """The cues that can stand in a text which holds these keys."""
        return [cue for key in keys for cue in self._by_key.get(key, ())]


NO_CUES = Cues()


_RUN = regex(r"[0-9][0-9 ().-]{6,}")


def regions(text: str) -> list[tuple[int, int]]:
    """Where long numbers may be: (start, end) about each run of digits, blanks and ( ) . - with at least 7 digits.

    A few characters more on both sides, as patterns look beside the number.
    """
    return [
        (max(0, run.start() - 6), run.end() + 2)
        for run in _RUN.finditer(text)
        if sum(character.isdigit() for character in run[0]) >= 7
    ]


class TextReading:
    """A folded text (`fold`), the same in lower case character by character, and which keys of cues stand in it."""

    def __init__(self, text: str, lower: str, keys: Iterable[str]) -> None:
        self.text = text
        self.lower = lower
        self.keys = keys

    def cues(self, cues: Cues) -> list[str]:
        """Those of the cues that stand in the text, alone or in longer words."""
        return [cue for cue in cues.among(self.keys) if cue in self.lower]

    def pieces(self, cues: Cues, before: int = BEFORE, after: int = AFTER) -> Iterator[Piece]:
        """About each place of the cues, in reading order."""
        return pieces(self.text, self.lower, self.places(cues), before, after)

    def places(self, cues: Cues) -> list[tuple[int, int]]:
        """Where the cues stand with no Latin letter beside them, in reading order: (start, end). Not all where they crowd."""
        return spaced(self.lower, self.ends(cues))

    def ends(self, cues: Cues) -> dict[int, int]:
        """The same of all of them: each end with its start."""
        return ends_of(self.lower, cues.among(self.keys))

    @cached_property
    def numbers(self) -> list[tuple[int, int]]:
        """Where long numbers may be (`numbers.regions`)."""
        return regions(self.text)

    @cached_property
    def kinds(self) -> bytes:
        """The text in one byte a character: `a` for a letter, `0` for a digit, `-` for a sign within a word, else a blank."""
        return self.text.encode("ascii", "replace").translate(_KINDS)

    @cached_property
    def long_runs(self) -> str:
        """The runs without white space that are as long as a key and hold a digit, or a network's name, with blanks between."""
        return " ".join(run for run in long_runs(self.text) if _TELLING.search(run))


_WHITE = bytes(32 if byte in b" \t\n\r\v\f" else 120 for byte in range(256))
_KINDS = bytes(
    97 if bytes([byte]).isalpha() else 48 if byte in b"0123456789" else 45 if byte in b"._-&@#!$*+'%^~" else 32
    for byte in range(256)
)
_LONG = b"x" * LONG


def holds_a_long_run(data: bytes) -> bool:
    """Whether `LONG` bytes of a text stand together without white space; many times faster than cutting it into runs."""
    return _LONG in data.translate(_WHITE)


def long_runs(text: str) -> Iterator[str]:
    """The runs of at least `LONG` characters without white space."""
    data = text.encode("utf-8", "replace")
    kinds = data.translate(_WHITE)
    start = kinds.find(_LONG)
    while start >= 0:
        end = kinds.find(b" ", start)
        end = len(kinds) if end < 0 else end
        run = data[start:end].decode()
        if len(run) >= LONG:
            yield run
        start = kinds.find(_LONG, end)


@dataclass(frozen=True, slots=True)
class Rule:
    """`matches` is asked only of texts with one of the cues or signs, and with one of the signs that it needs, if any.

    Every regular expression behind a rule is bounded, so that time grows in step with the length of the text, and starts with what
    is rare, so that it skips most of it.
    """

    name: str
    level: int
    matches: Callable[[TextReading], bool]
    cues: Cues = NO_CUES
    signs: Sign = NO_SIGN
    needs: Sign = NO_SIGN


def about(
    name: str,
    cues: Cues,
    matches: Callable[[Piece], object],
    *,
    level: int = 3,
    before: int = BEFORE,
    after: int = AFTER,
    needs: Sign = NO_SIGN,
) -> Rule:
    """A rule that is asked of each piece of a text about one of its cues."""
    return Rule(name, level, lambda read: any(map(matches, read.pieces(cues, before, after))), cues, needs=needs)


def found_in_text(*patterns: re.Pattern[str] | Begun) -> Callable[[TextReading], bool]:
    """A rule's `matches`: any of the patterns, in the text as written."""
    return lambda read: any(pattern.search(read.text) for pattern in patterns)


def found_in_lower(*patterns: re.Pattern[str] | Begun) -> Callable[[TextReading], bool]:
    """A rule's `matches`: any of the patterns, in the text in lower case."""
    return lambda read: any(pattern.search(read.lower) for pattern in patterns)


def listed(text: str) -> tuple[str, ...]:
    """The entries of a list that is written with commas and line breaks."""
    return tuple(entry for entry in (part.strip() for part in re.split(r"[,\n]", text)) if entry)


def either(text: str) -> str:
    """A listed text as alternatives of a regular expression, each a whole word where it begins and ends in a Latin letter."""
    return _whole(listed(text))


def one_of(name: str, *others: str) -> str:
    """The words of a list and other alternatives, as `either` has them. The list is read: hand `regex` a function."""
    return _whole([*map(re.escape, Words(name)), *others])


def _whole(alternatives: Iterable[str]) -> str:
    return rf"(?<![a-z])(?:{'|'.join(alternatives)})(?![a-z])"


class Begun:
    """Alternatives of a regular expression that each begin with fixed characters: they are tried only where those stand.

    `then` follows all of them. The engine tries every alternative at each character that one of them begins with; looking for a few
    letters in a text is many times faster.
    """

    def __init__(self, *alternatives: str, then: str = "") -> None:
        self.pattern = regex(f"(?:{'|'.join(alternatives)}){then}")
        heads = set(map(_head, alternatives))
        self._heads = tuple(
            head for head in heads if not any(head != other and head.startswith(other) for other in heads)
        )

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in reading order, none of which overlap."""
        end = 0
        for at in sorted({at for head in self._heads for at in positions(text, head)}):
            if at >= end and (match := self.pattern.match(text, at)):
                end = match.end()
                yield match

    def search(self, text: str) -> re.Match[str] | None:
        """A match, if there is any: not always the first."""
        matches = (self.pattern.match(text, at) for head in self._heads for at in positions(text, head))
        return next(filter(None, matches), None)


_HEAD = re.compile(r"(?:[\w@!%~ -]|\\\W)+(?![?*{+|])")


def _head(alternative: str) -> str:
    """The characters that an alternative begins with."""
    head = _HEAD.match(alternative)
    if head is None:
        raise ValueError(f"{alternative!r} must begin with characters that stand in whatever it matches")
    return re.sub(r"\\(\W)", r"\1", head[0])


TOKEN = regex(r"[!-~\u00a3\u20ac]{4,256}")
"""A run without white space and without Han: what a password is typed as."""

_WRAPPING = "\"'`([{<>}])"
_ENDING = ".,;:?()]}>\"'`"
# What programs, addresses, files, numbers with units and the like look like.
_ADDRESS = regex(
    r"[a-z][a-z0-9+.-]{1,20}://|www\.|[\w.+-]{1,64}@[\w-]{1,64}\.[a-z.]{2,}|[@#][a-z_][\w-]*$|[./~]?(?:[\w.-]*/){2}"
    r"|[\w-]+\.(?:com|net|org|io|cn|dev|py|js|ts|md|txt|json|ya?ml|toml|csv|pdf|png|jpe?g|html?|css|rs|go|java|sh|log"
    r"|sql|xml"
    r"|env|lock|zip|gz|local|exe|php|rb|c|h|cpp)\b|\d{1,3}(?:\.\d{1,3}){3}",
    re.IGNORECASE,
)
_CODE = regex(r"[(){}\[\]<>|\\;`]|\*\*|==|=>|->|::|&&|\|\||^[^A-Z]*\.\w+\.|\w=|[!%+*&^]=|^[$%*_.-]+\w*$|\w\+\+|^--?\w")
_RECKONED = regex(r"[\w+^*%&~#]+")  # 2x+3y, 365^n, R&D2
_FILLED_IN = regex(r"\$?\{[^\"']*\}")  # {elapsed:.2f}
_NAME = regex(
    r"(?:[A-Z][a-z]+-){1,3}[A-Z]?[a-z]+\d{1,2}|[a-z0-9]{2,12}[:]sha\d+.*|[\w./-]+@v?\d+(?:\.\d+)*|(?:UTC|GMT)[+-]\d.*"
    r"|\d+(?:am|pm)@\w+|.*\b[Ss]\d\d[Ee]\d\d"
)  # Flask-Argon2
_CONTRACTION = regex(r"[a-z]+['\u2019](?:s|t|m|d|re|ve|ll)\b", re.IGNORECASE)
_MEASURE = regex(
    r"[~<>+#$\u00a3\u20ac-]*\d[\d.,:/x*-]*(?:st|nd|rd|th|s|x|k|m|b|am|pm|%|\+|km|kg|mb|gb|tb|ms|px|min|hrs?|gbps|mbps"
    r"|hz"
    r"|mm|cm|ft|lbs?|oz|ml|bit|fps|p|w|v|mah|years?|days?|d|h|g|l|usd|rmb|eur)?[.!?,]*$",
    re.IGNORECASE,
)
_TECHNICAL = regex(
    r"(?:sha|md|aes|rsa|des|3des|utf|base|wpa|wep|argon|pbkdf|blake|rfc|iso|oauth|http|v|ed|totp|fido|web|x|ip|mp|h"
    r"|usb|ps"
    r"|win|windows|python|py|es|vue|log4j|covid|iphone|ipad|ios|macos|android|mate|b2b|p2p|w3c|i18n|k8s|s3|ec2|h2o|co2"
    r"|level|lvl|route|room|bus|section|step|part|chapter|unit|user|admin|test|file|item|page|var|arg|name|key|id|col"
    r"|row"
    r"|field|param|node|server|host|port|type|class|line|table|image|img|foo|bar|baz|example|sample|demo)"
    r"[-_]?\d[\w./-]*",
    re.IGNORECASE,
)
STAND_IN = regex(
    r"your|passw|example|placeholder|changeme|xxx|dummy|sample|insert|replace|redact|secret|token|\*\*|\.\.\.|<|{"
    r"|username"
    r"|api_?key|hidden|masked|confirm|valid|require|encrypt"
    r"|(?:field|input|hash|string)(?!(?<=[a-z]{9})\d)",
    re.IGNORECASE,
)
_INNER_SIGN = regex(
    r"[A-Za-z0-9][!#$%^&*~?@+][A-Za-z0-9!#$%^&*~?@+_-]*[A-Za-z0-9]|[A-Za-z0-9]{3,}[!#$%^&*~@]+[A-Za-z0-9]"
)
_MIXED_CASE = regex(r"[A-Za-z]\d+[A-Za-z]|[a-z]\d*[A-Z]|[_-]\w")
_MIXED_DIGITS = regex(r"[A-Za-z]\d+[A-Za-z]|\d[A-Za-z]+\d")
_RARE_PAIRS = regex(r"[bcdfghjklmnpqrstvwxz]{4}|q[^u]|[jvxz][bcdfghjklmnpqrstvwxz]|[bcdfghjkmpqvwxz]{3}")
NUMBER_WORDS = frozenset(
    listed("""
    zero, oh, one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, sixteen
    seventeen, eighteen, nineteen, twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety, hundred, double, triple, nought
    naught, niner
    """)
)
_NUMBER_WORD = f"(?:{'|'.join(sorted(NUMBER_WORDS - {'naught'}))})"
DIGIT_WORD = "(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|nought|naught|double|triple)"
SPOKEN = regex(rf"\b{_NUMBER_WORD}(?:[ ,-]{{1,3}}{_NUMBER_WORD}){{2,24}}\b")
"""A number said word by word, at least three words of it: `four oh seven, sixty-two`."""
_SIGN_WORD = (
    "capital|uppercase|upper case|lowercase|lower case|underscore|hyphen|dash|hash ?(?:tag|sign|key)|exclamation(?: mark"
    "| point)?|ampersand"
    "|at sign|dollar(?: sign)?|asterisk|star|pound(?: sign)?|percent(?: sign)?|question mark|full stop|all caps"
    "|all lowercase"
)
DICTATED = regex(rf"\b(?:{_SIGN_WORD})\b(?:(?!\n).){{1,60}}?(?:\b(?:{_SIGN_WORD})\b|\b{_NUMBER_WORD}\b|\d)")
"""A password spelled aloud: `capital r, k, four nine, dash`."""
DICTATED_ZH = regex("(?:大写|小写|下划线|感叹号|艾特|井号|星号|减号|横杠|全拼|首字母)")


NAMED_FOR = r"(?:\s{1,4}(?:for|to|of|on|at)\b[^\n.:=!?;,0-9]{0,30}?)?"
NAMED_IS = r"(?:\s{0,4}(?:\bis|\bwas|['’]s|[:：=])(?:\s(?:now|still))?\s{0,4})"
"""Between the name of a code or a number and it: what it is for, and that it is."""


def bare(token: str) -> str:
    """A token without the quotes and brackets about it and the stop after it."""
    return token.lstrip(_WRAPPING).rstrip(_ENDING)


def digits_in(value: str) -> int:
    """How many characters of a value are digits."""
    return sum(map(str.isdigit, value))


def strength(token: str) -> int:
    """How much a token looks like a password: 0 not at all, 1 a word with digits, 2 mixed, 3 like nothing else.

    0 for anything under 5 characters, without a letter, or shaped as code, an address, a measure, a stand-in.
    """
    if (len(token) < 10 and token.isalpha()) or not _STRONG.search(token):  # most words of most texts
        return 0
    value = bare(token)
    if not 5 <= len(value) <= 64 or _FILLED_IN.match(token) or _is_something_else(value):
        return 0
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    if not letters:
        return 0
    cased = any(map(str.isupper, value)) and any(map(str.islower, value))
    if sign := _INNER_SIGN.search(value):
        return _strength_by_sign(value, sign[0], letters, mixed=digits > 0 or (cased and not value.istitle()))
    if not digits:
        return 1 if random_letters(value) else 0
    return _strength_by_digits(value, cased)


_HASHED = regex(r"\W{0,2}(?:pbkdf2|scrypt|argon2\w{0,2}|bcrypt|sha\d{1,3})[:$]|\$2[aby]\$")


_PLAIN = regex(rf"[{re.escape(_WRAPPING)}]*[A-Za-z]{{0,9}}[{re.escape(_ENDING)}]*")
_STRONG = regex(r"[0-9]|[A-Za-z0-9][!#$%^&*~?@+]|[A-Za-z]{10}")


def may_be_strong(text: str) -> bool:
    """Whether a token of the text can have any strength: it takes a digit, a sign after a letter, or many letters."""
    return _STRONG.search(text) is not None


def strength_told(token: str) -> int:
    """The strength of a token, or of what it assigns, as in `pwd:tiger+88`; a hash is none."""
    if _PLAIN.fullmatch(token):
        return 0
    if (grade := strength(token)) or _HASHED.match(token):
        return grade
    return max(map(strength, re.split("[:=,\u2192]+", token)[1:]), default=0)


def _is_something_else(value: str) -> bool:
    return bool(
        _NAME.fullmatch(value)
        or _ADDRESS.match(value)
        or _CODE.search(value)
        or _MEASURE.match(value)
        or STAND_IN.search(value)
        or _TECHNICAL.fullmatch(value)
        or _CONTRACTION.match(value)
    )


def _strength_by_sign(value: str, around: str, letters: int, *, mixed: bool) -> int:
    if not mixed:
        return 2 if len(value) >= 8 else 1
    reckoned = len(value) < 6 or _RECKONED.fullmatch(around) is not None
    return 1 if reckoned and (len(value) < 8 or letters < 4) else 3


def _strength_by_digits(value: str, cased: bool) -> int:
    if len(value) >= 8 and cased and _MIXED_CASE.search(value):
        return 2
    if len(value) >= 6 and _MIXED_DIGITS.search(value):
        return 2
    return 2 if len(value) >= 8 and (value.endswith(tuple("!$#@*&%")) or re.search("[._-]", value)) else 1


def word_with_digits(value: str) -> bool:
    """Whether a token has any strength and a digit."""
    return strength(value) > 0 and any(map(str.isdigit, value))


def random_letters(value: str) -> bool:
    """Whether a run of letters is no word of a language: too few vowels, or pairs that words do not have."""
    run = value.lower()
    if not run.isalpha() or not run.isascii() or len(run) < 10:
        return False
    return len(_RARE_PAIRS.findall(run)) >= 2 or sum(map("aeiou".count, run)) * 6 <= len(run)


def random_key(value: str) -> bool:
    """Whether a run is random as a key is: at least 12 characters, letters and digits mixed; no stand-in.

    A UUID, a word with a year, or a path is none.
    """
    if len(value) < 12:
        return False
    runs = re.split("[^A-Za-z0-9]+", value)
    longest = max(runs, key=len)
    digits = sum(map(str.isdigit, longest))
    mixed = len(longest) >= 8 and 2 <= digits < len(longest) and len(set(longest.lower())) >= 6
    long = len(longest) >= 20 and len(set(longest)) >= 12 and any(map(str.isupper, longest[1:])) and not _camel(longest)
    return (mixed or long) and not STAND_IN.search(value)  # last: it takes a hundred times as long as the rest


def _camel(run: str) -> bool:
    """Whether a run is words joined by their capitals."""
    words = re.findall("[A-Z]?[a-z]{3,}", run)
    return sum(map(len, words)) * 4 >= 3 * len(run)


JOINED, WORDS = 1, 2
"""A word with digits; words joined as hardly anything else is."""

_LEAST, _MOST = 7, 40
_WORD = regex("[A-Za-z]{2,}")
_PRODUCTS = Words("values_products")
_SOMETHING_ELSE = regex(
    lambda: (
        rf"(?:{'|'.join(_PRODUCTS)})(?:pro|air|max|plus|ultra|mini|se|lite|gen)*(?:[\d.+_-]|$)"
        r"|.*[_-](?:5|2\.4|2)g$|.*[_.-]v\d+(?:\.\d+)*$|.*\bs\d\de\d\d|.*\d(?:gb|tb|mb|mhz|ghz|mah|px|hz|bit|fps)\b|.*\.\d+\.\d|.*-\d+\.\d+$"
        r"|.*[_.-](?:rc|beta|alpha|pre|rev|fix|dev|prod|test|staging|node|copy|final|draft|img|dsc|pic|photo|chapter|part|page)[_.-]?\d*$"
        r"|(?:img|dsc|pic|scr|rfc|cve|iso|ieee|pep|jira|bug|pr|eq|fig|img|ver|rev|gen|lv|us|eu|ap|ca)[_-]"
        rf"|(?:{WEEKDAY})\d|(?:{MONTH_STARTS})[a-z]{{0,6}}[-_.]?\d"
    )
)
_LEET = regex("[A-Za-z][0-9][A-Za-z]{2}|[0-9][A-Za-z]{3}")
_AT_NUMBER = regex("[a-z]{6,16}@[0-9]{2,6}")
_HUMP = regex("[a-z][A-Z][a-z]")
_NUMBERED = regex("[A-Z][a-z]+[-.][0-9]{1,3}")
"""As a crew, a plane, an error is: Apollo-11."""
_ENDS = regex(r"[A-Za-z]{6,24}[0-9]{1,8}")


def candidates(text: str, kinds: bytes) -> Iterator[tuple[int, str]]:
    """What may be made up as a password in a text: where it begins, and the run of letters, digits and signs.

    `kinds` are those of the text (`TextReading.kinds`).

    A digit follows a letter in it, at once or after one sign, or it begins with a digit and a letter.
    """
    for numbered in (b"a0", b"a-0", b" 0a"):
        at = kinds.find(numbered)
        while at >= 0:
            start, end = kinds.rfind(b" ", 0, at + 1) + 1, kinds.find(b" ", at + 1)
            end = len(text) if end < 0 else end
            if _LEAST <= end - start <= _MOST + 8:
                yield start, text[start:end]
            at = kinds.find(numbered, end)


def made(token: str) -> int:
    """0 for what is nothing a person made up as a password, else `JOINED` or `WORDS`."""
    value = bare(token)
    if not _LEAST <= len(value) <= _MOST or sum(map(str.islower, value)) < 3 or _SOMETHING_ELSE.match(value.lower()):
        return 0
    grade = 3 if _AT_NUMBER.fullmatch(value) else strength(value)
    letters = sum(map(len, _WORD.findall(value)))
    if not grade or letters < 5:
        return 0
    if grade == 3 or (letters >= 6 and _of_words(value)):
        return WORDS
    return JOINED if len(value) >= 8 or _ENDS.fullmatch(value) else 0


def _of_words(value: str) -> bool:
    """Whether words are joined by capitals, or by signs and with a capital or a digit for a letter."""
    cased = value.lower() != value
    if cased and len(value) >= 10 and _HUMP.search(value):
        return True
    parts = [part for part in re.split("[._-]", value) if part]
    joined = len(parts) >= 2 and max(map(len, parts)) >= 4 and (cased or _LEET.search(value) is not None)
    return joined and not _NUMBERED.fullmatch(value)
