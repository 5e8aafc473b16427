"""Extraction by rules: what the speaker of a turn states about himself, as statements that stand by themselves (seed 003).

Only what a user or a named person asserts: no question, no supposition, no quotation, no other person's words, nothing an
assistant says. Precision goes before recall, for every turn stays retrievable by itself (memory.md, section 4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from projections.language.extraction.chinese import chinese_clauses, chinese_statement
from projections.language.extraction.english import english_statement
from projections.language.extraction.english_clauses import english_clauses
from projections.language.extraction.shape import Clause, ExtractedStatement, StatedTriple, TurnText
from projections.language.extraction.text import talk_of
from projections.language.keywords.text import extracted
from projections.language.patterns import regex
from projections.language.scripts import holds_han

_ASKED_TO = regex("remember|note|keep in mind|don't forget|记|忘", re.IGNORECASE)
MOST_STATEMENTS = 12
"""Statements of one turn: a pasted text is no talk."""
_SENTENCE = regex(r"[^。！？!?.\n]+[。！？!?.\n]*")
_REMEMBER = regex(
    r"(?:^|[.!?。！？\n][ \t]*)(?:hey,? |and |also,? )?(?:please |pls )?(?:remember|note|keep in mind|don't forget"
    r"|make a note)(?: that|:|,)?\s+"
    r"(?P<en>(?=[^.!?\n]*\b(?:I|I'm|I've|my|our)\b)(?!(?:when|how|what|why|who|to|the time|that time|me|if|you"
    r"|your|those)\b|,)"
    r"(?![^.!?\n]*\b(?:you|your|it|we)\b)[^.!?\n]{8,300})(?=[.!](?:\s|$)|\n|$)"
    r"|(?:^|[。！？!?，,：:\s])(?:请|麻烦)?[你您]?(?:一定|帮我|替我|要)*"
    "(?:记住|记一下|记下来?|牢记|别忘了|不要忘记)(?:一下|了)?[，,：: ]?"
    r"(?P<zh>(?=[^。！？?!\n]*我)(?![^。！？?!\n]*[你您])[^。！？?!\n]{4,150})(?=[。！!\n]|$)",
    re.IGNORECASE,
)


def extract(turn: TurnText) -> list[ExtractedStatement]:
    """What the turn states, in order; also what it only asks or supposes, as not `asserted`. Never raises, whatever the text."""
    if not turn.by_person:
        return []
    talk = talk_of(turn.text)
    found: dict[str, ExtractedStatement] = {}
    for statement in _statements(talk.text, turn):
        found.setdefault(statement.content, statement._replace(span=talk.span(statement.span)))
    return [_with_keywords(one) for one in list(found.values())[:MOST_STATEMENTS]]


class Language(NamedTuple):
    """How one language is read: its sentences by the script they are in, clause by clause, each by the first rule that fits."""

    han: bool
    clauses: Callable[[str], Iterator[Clause]]
    statement: Callable[[Clause, TurnText], ExtractedStatement | None]
    asked: str
    """What is told of somebody who asks for something to be remembered."""
    user: str
    """A speaker without a name."""


ENGLISH = Language(False, english_clauses, english_statement, "{name} asked to remember: {said}", "User")
CHINESE = Language(True, chinese_clauses, chinese_statement, "{name}要求记住：{said}", "用户")


def _by_language(text: str) -> Iterator[tuple[Language, Clause]]:
    """The clauses of a text with the language they are in: the English ones in order, then the Chinese ones."""
    languages = (ENGLISH, CHINESE) if holds_han(text) else (ENGLISH,)
    for language in languages:
        own = text if len(languages) == 1 else _only(text, han=language.han)
        yield from ((language, clause) for clause in language.clauses(own))


def clauses(text: str) -> list[Clause]:
    """The English and the Chinese clauses of a text, in order, each with whether it is asserted; `talk_of` gives such texts."""
    return sorted((clause for _, clause in _by_language(text)), key=lambda one: one.start)


def _statements(text: str, turn: TurnText) -> Iterator[ExtractedStatement]:
    told = list(_remembered(text, turn))
    found = [language.statement(clause, turn) for language, clause in _by_language(text)]
    for statement in sorted((one for one in found if one is not None), key=lambda one: one.span):
        noted = next((one for one in told if _within(statement.span, one.span)), None)
        if noted is not None:
            told.remove(noted)
            statement = statement._replace(confidence=max(statement.confidence, noted.confidence))  # noqa: PLW2901
        yield statement
    yield from told


def _only(text: str, *, han: bool) -> str:
    """The text with only those sentences that have, or have not, Han characters; all stay in their places."""
    return _SENTENCE.sub(lambda found: found[0] if holds_han(found[0]) == han else "\n" * len(found[0]), text)


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return inner[0] < outer[1] and outer[0] < inner[1]


def _remembered(text: str, turn: TurnText) -> Iterator[ExtractedStatement]:
    """What the speaker asks to be remembered, in his own words."""
    if _ASKED_TO.search(text) is None:
        return
    for found in _REMEMBER.finditer(text):
        language, said = (ENGLISH, found["en"]) if found["en"] else (CHINESE, found["zh"])
        asks = text[found.end() : found.end() + 1] in ("?", "？") or said.rstrip().endswith(("吗", "呢"))
        content = language.asked.format(name=turn.name or language.user, said=said.strip())
        day = f" (said on {turn.day})" if turn.day else ""
        yield ExtractedStatement(content + day, "fact", "note", 1, not asks, 0.8, (found.start(), found.end()))


def questions(turn: TurnText) -> list[str]:
    """The questions that the turn asks, each by itself, as written."""
    if not turn.by_person or not ("?" in turn.text or "？" in turn.text):
        return []
    asked = re.findall(r"[^.!?。！？\n]{6,200}[?？]", talk_of(turn.text).text)
    return [found.strip() for found in asked][:MOST_STATEMENTS]


def _with_keywords(statement: ExtractedStatement) -> ExtractedStatement:
    about = statement.content if statement.triple is None else statement.triple.object
    words = tuple(dict.fromkeys(one.word for one in extracted(about, 5)))
    return statement._replace(keywords=words)


__all__ = ["Clause", "ExtractedStatement", "StatedTriple", "TurnText", "extract", "questions"]
