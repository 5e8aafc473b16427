"""Text analysis for search: what a text is found by, for documents and queries alike.

- Folding: NFKC, case; traditional Han as simplified; digits of other scripts as 0 to 9; letters without accents; what shows
  nothing, Arabic vowel signs and Hebrew points go.
- Words: runs of letters and digits with their combining marks, in any script, stemmed by Snowball: Arabic, Cyrillic and Greek
  ones as Arabic, Russian and Greek, others as English. `Tür` is found as `tur` and as `tuer`.
- Han: overlapping bigrams, then the single characters but for function characters; a run of one is itself.
- Hangul and scripts written without spaces (Thai, Lao, Burmese, Khmer): overlapping bigrams. Hiragana and katakana: a run is a
  word, in hiragana; a katakana run of four or more has its bigrams too.
- Identifiers (`foo_bar.py`, `err-1042`, `v2.3.1`, `a@b.co`, `c++`): whole, unstemmed, before their parts; without their signs
  (`nodejs`, `cooperative`) after them. `getUserById` and `#TeaTime`: also their parts.
- Paths, addresses and numbers (`src/main.py`, `https://x.y/z?q=1`, `#1234`): whole too, after everything else; `1,234,567` and
  `1'234'567` also as `1234567`, `o'brien` also as `obrien`, `2026-03-05` also as `march` and `5`.
- Telephone numbers, 9 to 15 digits however they are spaced: `tel:` and their last nine digits, last ten and so on to all of
  them, after everything else, so that `+49 151 2345678`, `0151 2345678` and `0151-234 5678` are found by each other.
- Emoji: one token each, without skin tone and presentation marks; a flag is one token.
- English stop words are left out, unless nothing else is left. I, you, we and 我, 你 and the like are no stop words: in
  conversations they tell the speaker's own statements from advice and quotation.

A text of nothing but punctuation or white space has no tokens.

Caches hold words of texts: `empty_caches` empties all of them once something was erased.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import _lru_cache_wrapper, cache, lru_cache
from itertools import chain, filterfalse
from operator import add
from typing import Protocol
from weakref import WeakSet

import Stemmer

from engramlog_server.projections.language.lexicon import simplified_characters, words
from engramlog_server.projections.language.patterns import HAN, HIRAGANA, KATAKANA, MARKS, OTHER_UNSPACED, regex
from engramlog_server.projections.language.times.calendar import MONTHS

_PACKAGE = __name__.partition(".")[0] + "."


class HoldsTexts(Protocol):
    """An object that keeps texts, or words of them."""

    def forget(self) -> None:
        """Keep none of them any more. From any thread."""
        ...


_HOLDERS = WeakSet[HoldsTexts]()


def holds_texts(holder: HoldsTexts) -> None:
    """Have `empty_caches` empty it too, as long as it lives."""
    _HOLDERS.add(holder)


def empty_caches() -> None:
    """Empty every bounded cache of our modules, and what was told to `holds_texts`."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGE):
            for value in list(vars(module).values()):
                if isinstance(value, _lru_cache_wrapper) and value.cache_parameters()["maxsize"] is not None:
                    value.cache_clear()
    for holder in list(_HOLDERS):
        holder.forget()


MAX_TOKEN = 128
"""Characters: a longer run (a base64 blob) is cut here, the same way in documents and queries."""


@cache
def stop_words() -> frozenset[str]:
    """English words that carry grammar."""
    return frozenset(words("stop_words", "english"))


@cache
def function_characters() -> frozenset[str]:
    """Han characters that carry grammar: no tokens by themselves, but parts of bigrams."""
    return frozenset(words("stop_words", "chinese"))


_UNSPACED = HAN + OTHER_UNSPACED
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}|"
    "[\u2300-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
_LETTERS = rf"[^\W_{_UNSPACED}{HIRAGANA}{KATAKANA}]+"
_WORD = rf"{_LETTERS}(?:[{MARKS}]+(?:{_LETTERS})?)*"
# What may stand inside an identifier: one of . @ : + - (with underscores about it), or underscores.
_JOINT = r"(?:_*[.@:+-]_*|_+)"
_SUFFIX = rf"(?:\+\+|#)(?![^\W{_UNSPACED}])"


def _chunks(word: str) -> str:
    return rf"{word}(?:{_JOINT}{word})*(?:{_SUFFIX})?"


_ASCII_CHUNK = regex(_chunks("[a-z0-9]+"))
_CHUNK = regex(rf"[{HAN}]+|[{OTHER_UNSPACED}]+|{_chunks(_WORD)}|[{HIRAGANA}]+|[{KATAKANA}]+|{_EMOJI}")
_PART = regex(_WORD)
_UNSPACED_START = regex(f"([{HAN}])|[{OTHER_UNSPACED}]")
_IDENTIFIER = regex(r"[\d_@.#]|\+\+")
_RUN = regex(r"[\w~.@:+%=&#?/-]+", re.ASCII)
_NUMBERED = regex(r"#\d+(?!\w)", re.ASCII)
_NINE_DIGITS = regex(r"\d(?:[ ()-]{0,2}\d){8}", re.ASCII)
_PHONE = regex(r"(?<![\w.:-])\+?\(?\d(?:[ ()-]{0,2}\d){8,14}(?![\w:-])", re.ASCII)
_DAY = regex(r"(?:19|20)\d\d-?[01]\d-?[0-3]\d(?:\D|$)")
_TELEPHONE_DIGITS = 9
_CAMEL = regex(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CAMEL_WORD = regex(r"[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*", re.ASCII)
_CAMEL_PART = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LEAST_PART = 3
_THOUSANDS = regex(r"(?<![\d.,'])(\d{1,3}(?:(?:,\d{3})+|(?:'\d{3})+))(\.\d+)?(?![\d,'])", re.ASCII)
_PERSON = regex(r"(?<![\w'])([a-z])'([a-z]{3,})", re.ASCII)
_ISO_DAY = regex(r"(?<![\w-])(?:19|20)\d\d-([01]\d)-([0-3]\d)(?!\d)", re.ASCII)
_ZEROS = (0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0x1040, 0x17E0)
"""The zeros of the digits of Arabic, Persian, the scripts of India, Thai, Lao, Burmese and Khmer."""
_HIRAGANA_OF = {point: point - 0x60 for point in range(0x30A1, 0x30F7)}
_LEAST_COMPOUND = 4
"""Katakana letters from which on a run may be made of several words."""
_KATAKANA_START = regex(f"[{KATAKANA}]")
_HANGUL_LETTER = regex("[\uac00-\ud7a3]")
_HANGUL = regex("[\uac00-\ud7a3]+|[^\uac00-\ud7a3]+")
_TWO_LETTERS: dict[str, int | str | None] = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}
_SEVERAL: dict[str, int | str | None] = {"æ": "ae", "œ": "oe", "þ": "th"}
_WRITTEN_OUT = str.maketrans(_TWO_LETTERS)
_ACCENTS = dict.fromkeys(range(768, 880))
_HA = "\u0647"
"""What an Arabic feminine ending is read as; the stemmer leaves it on words with an article."""
_STEMMED = ((0x370, 0x400, "greek"), (0x400, 0x530, "russian"), (0x600, 0x700, "arabic"))
"""The first and the end of the scripts that have a stemmer of their own; letters before these are Latin."""


@cache
def _plain() -> dict[int, int | str | None]:
    """What NFKC and casefold leave, as plainer letters or as nothing."""
    return {
        **simplified_characters(),
        **str.maketrans("łđıðħŧ‘’ʼ´‐", "ldidht''''-"),
        **str.maketrans(
            "\u0451\u06a9\u06cc\u0649\u0623\u0625\u0622\u0629", "\u0435\u0643\u064a\u064a\u0627\u0627\u0627\u0647"
        ),
        **str.maketrans(_SEVERAL),
        **dict.fromkeys(
            [0xAD, 0x61C, 0x640, 0x670, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065)]
        ),
        **dict.fromkeys(
            [*range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C4, 0x5C5, 0x5C7, *range(0x610, 0x61B), *range(0x64B, 0x660)]
        ),
        **dict.fromkeys(range(0x300, 0x370)),
        **{zero + digit: str(digit) for zero in _ZEROS for digit in range(10)},
    }


def tokens(text: str) -> list[str]:
    """The tokens of a text in reading order, with repetitions; never raises, whatever the text."""
    # A query such as "who are you?" has stop words only, and is better answered with them than not at all.
    return kept_tokens(text) or [piece for chunk in _chunks_of(text) for piece in _pieces(chunk)]


def kept_tokens(text: str) -> list[str]:
    """The tokens of a text that stands beside others: `tokens`, but none where it has nothing but stop words."""
    if text.isascii():
        kept = list(chain.from_iterable(map(_OF_WORD.__getitem__, text.split())))
        text = text.lower()
    else:
        kept, composed = [], unicodedata.normalize("NFKC", text)
        text = composed.casefold().translate(_plain())
        for chunk in _CHUNK.findall(text):
            script = _SCRIPT_OF[chunk[0]]
            kept += _bigrams(chunk, with_characters=script == _IN_HAN) if script else _without_stops(chunk)
        if _CAMEL.search(composed):
            kept += _camel_parts(composed)
    return kept + _wholes(text)


def _chunks_of(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_CHUNK.findall(text.lower())
    return _CHUNK.findall(unicodedata.normalize("NFKC", text).casefold().translate(_plain()))


def _camel_parts(text: str) -> list[str]:
    """The words in `getUserById` and `XMLHttpRequest`, but for short ones and stop words."""
    parts = (part.lower() for word in _CAMEL_WORD.findall(text) for part in _CAMEL_PART.findall(word[:MAX_TOKEN]))
    return [stem(part) for part in parts if len(part) >= _LEAST_PART and part not in stop_words()]


def _wholes(folded: str) -> list[str]:
    """Paths, addresses, numbers and telephone numbers of a folded text, which the chunks have only in parts."""
    found: list[str] = []
    if "/" in folded:
        paths = (run.strip(".:?-").rstrip("/") for run in _RUN.findall(folded) if "/" in run)
        found = [path for path in paths if "/" in path[1:] and len(path) <= MAX_TOKEN and _IDENTIFIER.search(path)]
    if "#" in folded:
        found += _NUMBERED.findall(folded)
    if "," in folded or "'" in folded:
        found += [number.replace(",", "").replace("'", "") for number, _ in _THOUSANDS.findall(folded)]
    if "'" in folded:
        found += [stem(first + rest) for first, rest in _PERSON.findall(folded)]
    if "-" in folded:
        for month, day in _ISO_DAY.findall(folded):
            found += [stem(MONTHS[(int(month) - 1) % 12]), str(int(day))]
    if _NINE_DIGITS.search(folded):
        for number in _PHONE.findall(folded):
            if not _DAY.match(number):
                digits = "".join(filter(str.isdecimal, number))
                found += [f"tel:{digits[-size:]}" for size in range(_TELEPHONE_DIGITS, len(digits) + 1)]
    return found


def _bigrams(run: str, with_characters: bool) -> list[str]:
    if len(run) == 1:
        return [run]
    characters = list(run)
    bigrams = list(map(add, characters, characters[1:]))
    if with_characters:
        bigrams += filterfalse(function_characters().__contains__, characters)
    return bigrams


_SPACED, _IN_HAN, _OTHER = range(3)


class _Scripts(dict[str, int]):
    """By the character a chunk begins with: whether its script is written without spaces, and is Han."""

    def __missing__(self, character: str) -> int:
        found = _UNSPACED_START.match(character)
        script = self[character] = _SPACED if found is None else _IN_HAN if found[1] else _OTHER
        return script


_SCRIPT_OF = _Scripts()


def _without_stops(chunk: str) -> tuple[str, ...]:
    # Long chunks are rare and would only make the cache heavy.
    return _cached(chunk) if len(chunk) <= MAX_TOKEN else tuple(_pieces(chunk, leave_out=stop_words()))


@lru_cache(maxsize=1 << 16)
def _cached(chunk: str) -> tuple[str, ...]:
    return tuple(_pieces(chunk, leave_out=stop_words()))


class _OfWord(dict[str, tuple[str, ...]]):
    """The tokens of what stands between white space in an ASCII text: no chunk reaches over white space."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = tuple(piece for chunk in _ASCII_CHUNK.findall(word.lower()) for piece in _without_stops(chunk))
        if _CAMEL.search(word):
            found += tuple(_camel_parts(word))
        if len(word) <= MAX_TOKEN:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = found
        return found


_MOST_WORDS = 1 << 16
_OF_WORD = _OfWord()


class _Words:
    def forget(self) -> None:
        _OF_WORD.clear()
        _stemmer.cache_clear()  # a stemmer keeps its last word


_WORDS = _Words()
holds_texts(_WORDS)


def _pieces(chunk: str, leave_out: frozenset[str] = frozenset()) -> list[str]:
    """An identifier whole, then its parts as words and without its signs; any other chunk as its words."""
    if chunk.isalnum():
        return [] if chunk in leave_out else _forms(chunk)
    whole = [chunk] if len(chunk) <= MAX_TOKEN and _IDENTIFIER.search(chunk) else []
    parts = _PART.findall(chunk)
    if not parts:
        return [chunk[:MAX_TOKEN]]
    words = [form for word in parts if word not in leave_out for form in _forms(word)]
    joined = "".join(parts) if 1 < len(parts) <= _MOST_JOINED and _JOINED.match(chunk) else ""
    return whole + words + ([stem(joined)] if joined else [])


_MOST_JOINED = 3
"""Parts of an identifier that is also found without its signs."""
_JOINED = regex(r"(?![\d.:-]+$)(?=\w{1,3}-|\D*[\d.])[^@_]+$")
"""`e-mail`, `AB-12345`, `Node.js`; neither days, times and addresses nor two whole words."""


def _forms(word: str) -> list[str]:
    """A word as it is found: without accents and ending; with umlauts also as they are written out."""
    if word.isascii():
        return [stem(word)]
    word = word[:MAX_TOKEN]
    if _KATAKANA_START.match(word):
        kana = word.translate(_HIRAGANA_OF)
        return [kana, *(_bigrams(kana, with_characters=False) if len(kana) >= _LEAST_COMPOUND else ())]
    if _HANGUL_LETTER.search(word):
        runs = _HANGUL.findall(word)
        return [piece for run in runs for piece in (_bigrams(run, False) if _HANGUL_LETTER.match(run) else [stem(run)])]
    first = ord(word[0])
    if language := next((name for start, end, name in _STEMMED if start <= first < end), None):
        plain = _without_accents(word) if language == "greek" else word
        found = _stemmer(language).stemWord(plain)
        return [found[:-1] if found[-1:] == _HA and len(found) > _LEAST_PART else found]
    out = word.translate(_WRITTEN_OUT)
    plain = stem(_without_accents(word))
    return [plain] if out == word else [plain, stem(_without_accents(out))]


def _without_accents(word: str) -> str:
    """Latin and Greek letters without accents; other scripts are left as they are."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", word.replace("ø", "o")).translate(_ACCENTS))


def stem(word: str) -> str:
    """A lower-cased word without its English ending; any other, and what is too long, cut at `MAX_TOKEN`."""
    return _stemmer("english").stemWord(word[:MAX_TOKEN]) if word.isascii() else word[:MAX_TOKEN]


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language, 0)  # no cache of its own: chunks are cached above
