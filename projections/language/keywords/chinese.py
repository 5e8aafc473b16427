"""What a Chinese text is about: the nouns and names that a segmenter cuts. Pure; the segmenter is loaded at first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from engramlog_server.projections.language.keywords.english import FAINT, NAME, PLAIN, Candidate
from engramlog_server.projections.language.keywords.words import VERBS_BEFORE, never_chinese, weak_chinese
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import begins_with_han

_SURROGATES = regex("[\ud800-\udfff]")
_PERSONS = frozenset("我你他她它您这那哪")
_SCORES = {
    "n": PLAIN + 0.05,
    "nz": PLAIN + 0.1,
    "ns": PLAIN + 0.15,
    "nt": PLAIN + 0.15,
    "nr": NAME - 0.1,
    "nrt": NAME - 0.1,
    "nrfg": NAME - 0.1,
    "j": PLAIN,
    "vn": PLAIN - 0.05,
    "an": PLAIN - 0.1,
    "v": PLAIN - 0.15,
    "i": PLAIN - 0.15,
    "l": PLAIN - 0.1,
    "s": PLAIN - 0.1,
    "a": FAINT + 0.02,
    "ad": FAINT,
    "d": FAINT - 0.05,
    "t": FAINT,
    "b": FAINT,
    "z": FAINT,
}
"""By the part of speech that the segmenter tells; what is not named here is no keyword."""
_FEASTS = regex("[节诞]$|生日$")
_MOST_FAINT = FAINT + 0.02
_ENOUGH = 3
"""Times that a common word must stand in a text to be what it is about."""


@cache
def _tagger() -> Callable[[str], list[tuple[str, str]]]:
    import rjieba  # noqa: PLC0415 - its dictionary costs 33 MB and 0.1 s, which no English text should pay

    tagger: Callable[[str], list[tuple[str, str]]] = rjieba.tag
    return tagger


def segmented(text: str) -> list[str]:
    """The words of a text in reading order, spaces and punctuation among them; any text."""
    return [word for word, _ in _tagged(text)]


def read_chinese(text: str) -> list[Candidate]:
    """Candidates among the Chinese words of a text, each once, in no promised order."""
    places: dict[str, tuple[float, int, int]] = {}
    at = 0
    for at, (written, tag) in enumerate(_tagged(text), 1):
        word, score = _read(written, tag)
        if score > 0:
            old = places.get(word)
            places[word] = (score, at, 1) if old is None else (max(old[0], score), old[1], old[2] + 1)
    late = 0.1 / (at or 1)
    return [
        (
            -(score + 0.1 * min(times - 1, 3) + 0.1 - late * place + 0.03 * min(len(word), 5)),
            place,
            word,
            score <= _MOST_FAINT and times < _ENOUGH,
        )
        for word, (score, place, times) in places.items()
    ]


def _tagged(text: str) -> list[tuple[str, str]]:
    try:
        return _tagger()(text)
    except UnicodeEncodeError:
        return _tagger()(_SURROGATES.sub(" ", text))


@lru_cache(maxsize=1 << 14)
def _read(written: str, tag: str) -> tuple[str, float]:
    """A word as cut, without a verb that was left on it, and its score; 0 where it is no keyword."""
    word = _without_verb(written) if len(written) == 3 and written[0] in VERBS_BEFORE else written
    return word, _score(word, tag)


def _score(word: str, tag: str) -> float:
    score = _SCORES.get(tag, 0.0)
    if score == 0.0 or word in never_chinese() or not begins_with_han(word) or not _PERSONS.isdisjoint(word):
        return 0.0
    if word in weak_chinese():
        return min(score, FAINT)
    if len(word) == 1:
        return score - 0.1 if tag[0] == "n" else 0.0
    return PLAIN if tag == "t" and _FEASTS.search(word) else score


def _without_verb(word: str) -> str:
    """喝咖啡 without 喝, where what is left is a word."""
    parts = _tagged(word[1:])
    return word[1:] if len(parts) == 1 and parts[0][1] in ("n", "nz") else word
