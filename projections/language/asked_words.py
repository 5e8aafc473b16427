"""The words by which a text tells what it is about: without question words, pronouns, greetings and what carries grammar. Pure."""

from __future__ import annotations

from functools import cache

from engramlog_server.projections.language.extractive import words
from engramlog_server.projections.language.keywords.words import never, never_chinese
from engramlog_server.projections.language.lexicon import either
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import begins_with_han, holds_han
from engramlog_server.projections.language.text import kept_tokens, stem

_ASKED_HAN = regex(
    "为什么|什么时候|什么样|什么|怎么样|怎么办|怎么|怎样|如何|哪里|哪儿|哪些|哪个|哪家|哪天|哪|谁|几点|几个|多少|多久|是不是|有没有|吗|呢"
)
"""Chinese question words: an answer need not hold them, as it need not hold English ones, which are stop words."""
_CHAT_TEXT = """
thanks thank great good nice cool awesome perfect wonderful amazing lovely welcome cheers congratulations congrats luck bye
goodbye morning afternoon evening night sounds glad please agree agreed
"""


@cache
def _chat() -> frozenset[str]:
    """Stems of words of greeting and thanks, which nobody searches for."""
    return frozenset(stem(word) for word in never() | set(_CHAT_TEXT.split()))


_CHAT_HAN = regex(
    lambda: either(word for word in never_chinese() if len(word) > 1) + "|[我你您他她它的了是在好啊吧呀哦嗯]"
)
_WHOSE_HAN = regex("用户|主人")
_WHOSE = frozenset({"user"})
"""By what memories name their owner."""


def without_question_words(text: str) -> str:
    """A text without Chinese question words; English ones are stop words."""
    return _ASKED_HAN.sub(" ", text)


def says_something(text: str) -> bool:
    """Whether a text has a word that one can search for: greetings, thanks and question words are none."""
    if holds_han(_CHAT_HAN.sub(" ", without_question_words(text))):
        return True
    return any(word not in _chat() and not begins_with_han(word) for word in words(text))


def asked_words(text: str) -> frozenset[str]:
    """The terms of a text that tell what it is about, whoever says it of whom."""
    kept = _CHAT_HAN.sub(" ", _WHOSE_HAN.sub(" ", without_question_words(text)))
    return frozenset(kept_tokens(kept)) - _chat() - _WHOSE
