"""Words that are no keywords, or only where nothing better is left: English by stem, Chinese as a segmenter cuts it."""

from __future__ import annotations

from functools import cache

from engramlog_server.projections.language.lexicon import words
from engramlog_server.projections.language.text import stem, stop_words

VERBS_BEFORE = frozenset("喝吃买看玩去学做打听写读用找养种")
"""Verbs of one character that a segmenter may leave on their object: 喝咖啡."""


@cache
def never() -> frozenset[str]:
    """English words that are never keywords."""
    return frozenset(words("never_keywords", "english")) | stop_words()


@cache
def weak() -> frozenset[str]:
    """Stems of English words that are keywords only where nothing better is left."""
    return frozenset(map(stem, words("weak_keywords", "english")))


@cache
def never_chinese() -> frozenset[str]:
    """Chinese words that are never keywords."""
    return frozenset(words("never_keywords", "chinese"))


@cache
def weak_chinese() -> frozenset[str]:
    """Chinese words that are keywords only where nothing better is left."""
    return frozenset(words("weak_keywords", "chinese"))
