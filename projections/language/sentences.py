"""The sentences of a text, those that say most of it, and the words that say what a text is about. English and Chinese. Pure.

Without a model: sentences are chosen one after the other as SumBasic does (Nenkova and Vanderwende, 2005): the one with the most
frequent words, words of chosen sentences counting less. What a caller is about counts more. Question words, pronouns, greetings and
words that carry grammar say nothing.

Also which part of a text statements were drawn from, and what else it says; by words alone. A text is cut into clauses. Of each
statement the clause that shares most of its words is taken, then the one that shares most of those that are left, as long as some
are shared. What such a clause says beside the statement is another matter, unless it is but a word: "I live in Lisbon with my cat
Tom" tells of a cat too, where all that was made of it is that she lives in Lisbon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from engramlog_server.projections.language.keywords import never, never_chinese, weak, weak_chinese
from engramlog_server.projections.language.lexicon import either
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN, begins_with_han, holds_han
from engramlog_server.projections.language.text import kept_tokens, stem

_SAID_ON = regex(r" ?[(（](?:said on )?\d{4}-\d\d-\d\d说?[)）]")


def without_day(text: str) -> str:
    """The text without days that extraction added: they are no part of what it states."""
    return _SAID_ON.sub("", text) if "(" in text or "（" in text else text


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


ABOUT = 8.0
"""How much more often a word that was asked about counts."""
COMMON = 0.25
"""How much less a common verb, adjective or greeting counts."""
LEAST_WORDS = 3
"""Different words from which a sentence says something by itself."""

_ENDS = regex(rf"(?<=[。！？；])[”’」』）]*|(?<=[!?…])[\"'”’)]*\s+|(?<=[.])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9{HAN}])|\n+")
_SHORT_FORM = regex(r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|vs|e\.g|i\.e|etc|approx|Inc|Ltd|Co)\.$")


@cache
def _common() -> frozenset[str]:
    """Words that stand in texts on anything."""
    return (
        frozenset(map(stem, never())) | weak() | {word for word in never_chinese() | weak_chinese() if len(word) == 2}
    )


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, white space at their ends cut off; a line break ends one too."""
    found: list[str] = []
    start = 0
    for match in _ENDS.finditer(text):
        piece = text[start : match.end()].strip()
        if piece and not (match[0].startswith((" ", "\t")) and _SHORT_FORM.search(text[start : match.start()])):
            found.append(piece)
            start = match.end()
    return [*found, rest] if (rest := text[start:].strip()) else found


@lru_cache(maxsize=4_096)
def words(sentence: str) -> frozenset[str]:
    """The different words of a sentence by which it is compared: Han by pairs; none where it has only function words."""
    return frozenset(
        one for one in kept_tokens(sentence) if len(one) > 1 or (one.isalnum() and not begins_with_han(one))
    )


def chosen(pieces: Sequence[str], most: int, about: str = "") -> list[int]:
    """Indices, ascending, of at most `most` pieces that say most of all of them.

    `about`: a text whose words count more. A piece of fewer than three different words is only chosen where it shares one
    with `about`; so nothing may be chosen at all.
    """
    asked = words(about)
    held = [words(piece) for piece in pieces]
    counts = Counter(word for one in held for word in one)
    weights = {
        word: count * (ABOUT if word in asked else COMMON if word in _common() else 1.0)
        for word, count in counts.items()
    }
    left = [at for at, one in enumerate(held) if len(one) >= LEAST_WORDS or one & asked]
    found: list[int] = []
    while left and len(found) < most:
        best = max(left, key=lambda at: (sum(weights[word] for word in held[at]) / len(held[at]) ** 0.5, -at))
        found.append(best)
        left = [at for at in left if at != best and not held[at] <= held[best]]
        for word in held[best]:
            weights[word] /= 2.0
    return sorted(found)


def joined(pieces: Sequence[str]) -> str:
    """Sentences one after the other: with a space between, but not after Chinese punctuation."""
    told = ""
    for piece in pieces:
        told += piece if not told or told[-1] in "。！？；…”』」" else f" {piece}"
    return told


MOST_CLAUSES = 4
"""Clauses that one statement is drawn from, at most."""
MOST_BESIDE = 1.0
"""Words that a clause may have beside its statement and still say nothing else; a Han character is half of one."""
LONGEST = 20_000
"""Characters of a text that are cut into clauses; what stands behind is one more."""
_BETWEEN = regex(
    r"[,，;；:：、。！？!?\n()（）]+|[.…]+(?=\s|$)|[—–]+"
    r"|\s(?:and|but|so|because|while|when|although|though|who|which|since)\s"
    r"|(?:而且|并且|但是|不过|可是|所以|因为|因此|然后|还有|以及|同时)"
)
ADDED = regex(r"\s*[(（][^()（）]*\d{4}-\d\d-\d\d[^()（）]*[)）]\s*$")
"""What extraction adds to a statement: the day on which it was said."""


class Drawn(NamedTuple):
    """The words of a text, those that tell what it is about."""

    inside: frozenset[str]
    """Of the statements, and of clauses that say hardly anything else."""
    rest: frozenset[str]
    """All others; none where the text says nothing else."""


def drawn(text: str, statements: Sequence[str]) -> Drawn:
    """The part of a text that statements were drawn from, and the rest of it. Time grows with the text's length."""
    parts = [*_BETWEEN.split(text[:LONGEST]), text[LONGEST:]]
    clauses = [words for part in parts if part and (words := asked_words(part))]
    inside: set[str] = set()
    for statement in statements:
        said = asked_words(ADDED.sub("", statement))
        left = set(said)
        for _ in range(MOST_CLAUSES):
            best = max(clauses, key=lambda clause: len(clause & left), default=frozenset[str]())
            if not best & left:
                break
            more = best - said
            inside |= best - more if sum(map(_size, more)) > MOST_BESIDE else best
            left -= best
        inside |= said
    every = frozenset[str]().union(*clauses)
    return Drawn(frozenset(inside), every - inside)


def _size(word: str) -> float:
    """How much of a word a term is; a pair of Han characters is told by these."""
    return 1.0 if not begins_with_han(word) else 0.5 if len(word) == 1 else 0.0
