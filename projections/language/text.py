"""Text analysis for search: what a text is found by, for documents and queries alike.

- Folding: NFKC, then casefold.
- Words: runs of letters and digits with their combining marks, in any script; ASCII words are stemmed (Snowball's
  English stemmer).
- Han: overlapping bigrams, then the single characters but for function characters; a run of one is itself.
- Scripts written without spaces (Thai, Lao, Burmese, Khmer): overlapping bigrams. Hiragana, katakana: a run is a word.
- Identifiers (`foo_bar.py`, `err-1042`, `v2.3.1`, `a@b.co`, `c++`): whole, unstemmed, before their parts.
- Paths, addresses and numbers (`src/main.py`, `https://x.y/z?q=1`, `#1234`): whole too, after everything else.
- Telephone numbers, 9 to 15 digits however they are spaced: `tel:` and their last nine digits, last ten and so on to all of
  them, after everything else, so that `+49 151 2345678`, `0151 2345678` and `0151-234 5678` are found by each other.
- Emoji: one token each, without skin tone and presentation marks; a flag is one token.
- English stop words are left out, unless nothing else is left. I, you, we and 我, 你 and the like are no stop words: in
  conversations they tell the speaker's own statements from advice and quotation.

A text of nothing but punctuation or white space has no tokens.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain, filterfalse
from operator import add

import Stemmer

from projections.language.lexicon import words
from projections.language.patterns import regex
from projections.language.scripts import HAN, HIRAGANA, KATAKANA, MARKS, OTHER_UNSPACED

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


def tokens(text: str) -> list[str]:
    """The tokens of a text in reading order, with repetitions; never raises, whatever the text."""
    # A query such as "who are you?" has stop words only, and is better answered with them than not at all.
    return kept_tokens(text) or [piece for chunk in _chunks_of(text) for piece in _pieces(chunk)]


def kept_tokens(text: str) -> list[str]:
    """The tokens of a text that stands beside others: `tokens`, but none where it has nothing but stop words."""
    if text.isascii():
        text = text.lower()
        kept = list(chain.from_iterable(map(_OF_WORD.__getitem__, text.split())))
    else:
        text, kept = unicodedata.normalize("NFKC", text).casefold(), []
        for chunk in _CHUNK.findall(text):
            script = _SCRIPT_OF[chunk[0]]
            kept += _bigrams(chunk, with_characters=script == _IN_HAN) if script else _without_stops(chunk)
    return kept + _wholes(text)


def _chunks_of(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_CHUNK.findall(text.lower())
    return _CHUNK.findall(unicodedata.normalize("NFKC", text).casefold())


def _wholes(folded: str) -> list[str]:
    """Paths, addresses, numbers and telephone numbers of a folded text, which the chunks have only in parts."""
    found: list[str] = []
    if "/" in folded:
        paths = (run.strip(".:?-").rstrip("/") for run in _RUN.findall(folded) if "/" in run)
        found = [path for path in paths if "/" in path[1:] and len(path) <= MAX_TOKEN and _IDENTIFIER.search(path)]
    if "#" in folded:
        found += _NUMBERED.findall(folded)
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
    """The tokens of what stands between white space in a lower-cased ASCII text: no chunk reaches over white space."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = tuple(piece for chunk in _ASCII_CHUNK.findall(word) for piece in _without_stops(chunk))
        if len(word) <= MAX_TOKEN:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = found
        return found


_MOST_WORDS = 1 << 16
_OF_WORD = _OfWord()


def _pieces(chunk: str, leave_out: frozenset[str] = frozenset()) -> list[str]:
    """An identifier whole, then its parts as words; any other chunk as its words."""
    if chunk.isalnum():
        return [] if chunk in leave_out else [stem(chunk)]
    whole = [chunk] if len(chunk) <= MAX_TOKEN and _IDENTIFIER.search(chunk) else []
    parts = _PART.findall(chunk)
    if not parts:
        return [chunk[:MAX_TOKEN]]
    return whole + [stem(word) for word in parts if word not in leave_out]


def stem(word: str) -> str:
    """A lower-cased word without its English ending; any other, and what is too long, cut at `MAX_TOKEN`."""
    return _stemmer().stemWord(word[:MAX_TOKEN]) if word.isascii() else word[:MAX_TOKEN]


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english", 0)  # no cache of its own: chunks are cached above
