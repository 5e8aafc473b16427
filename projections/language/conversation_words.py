"""What the conversation ranking reads off words: traits of a turn, and what a question asks for. English and Chinese.

Every pattern takes time proportional to the text, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engramlog_server.projections.language.extraction.instructing import asks_for_good
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import holds_han
from engramlog_server.projections.language.times.names import MONTHS, WEEKDAY

ENDS_ASKING, HAS_QUESTION, HAS_TIME, HAS_NUMBER, SELF, STANDING, PREFERS = (1 << bit for bit in range(7))
"""Traits of a turn: it ends in a question, holds one, holds a word of time, a number, speaks of I; asks for something for good,
says in its first 4,000 characters what its speaker likes better."""

_AFTER_QUESTION = regex("[\\s\"'”’」』)）!！~～\u2600-\u27bf\U0001f000-\U0001faff]")
_TIME = regex(
    rf"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|week|weekend|month|year|{WEEKDAY}"
    rf"|{'|'.join(name for name in MONTHS if name != 'may')}|\d{{4}}|\d+(?:st|nd|rd|th)"
    r"|recently|since|morning|evening)\b|[今昨明前后]天|去年|今年|上周|下周|\d[月日号]|星期|周末"
)
_NUMBER = regex(
    r"\b(?:\d|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice|dozen|couple|first|second|third)\b)"
    r"|[一二三四五六七八九十两\d][个只条本部次岁年月天]"
)
_SELF = regex(r"\b(?:i|i'm|i've|i'd|my|me|we|our)\b|我")
_PREFERS = regex(
    r"\bi(?:['’]d| would)? (?:(?:usually|always|really|generally|also|now|still|mostly) ){0,2}"
    r"(?:prefer|like|love|enjoy|hate|dislike|favou?r|avoid|can['’]?t stand)\b|\bmy (?:favou?rite|preference)"
    r"|\bi(?:['’]m| am) (?:(?:really|more|also) )?(?:into\b|a fan of|allergic|vegan|vegetarian)"
    r"|喜欢|偏爱|偏好|讨厌|最爱|爱吃|爱喝|不吃|不喝|过敏|吃素"
)

_ASIDE = regex(
    r"\b(?:can|could|would|will|do|did|have) you (?:please )?(?:remember|recall|know|tell|help|give|list|walk|explain"
    r"|summari[sz]e|remind|show|think|suggest|describe|provide|make)\b|你?还?记得吗?|你知道"
)
_YOU_SAID = regex(
    r"\b(?:did|had|have) you\b|\byou(?:'d|'ve| have| had)? ?(?:previously |just |also |originally |first |already )?"
    r"(?:recommend|suggest|told|gave|give|mention|said|say|list|explain|advis|describ|provid|shar|propos|show|point"
    r"|outline|offer|warn|help)"
)
_PERSON = regex("[我你您]")
_PARTS = regex(r"[，。！？,!?；;\s]+")
_SENTENCE = regex(r"(?<=[。！？!?；;\n])|(?<=[.])\s")
_WHEN = regex(r"\bwhen\b|\bwhat (?:day|date|month|year|time)\b|什么时候|哪天|哪一天|日期")
_MANY = regex(r"\bhow (?:many|much|long|old|often)\b|\bwhat (?:number|score|percentage|amount)\b|多少|几[个次岁]|多久")
_ADVICE = regex(
    r"\b(?:suggest|recommend|advi[cs]e|should i|help me|(?:can|could) you help|any (?:tips|ideas)"
    r"|how (?:can|could|would|do) (?:i|you)|what (?:would|can|could) you)|推荐|建议|怎么办|帮我|出个?主意|给我[^，。]{0,6}意见"
)
_WORD = regex(r"\w+")
LIKING_READ = 4_000
"""Characters of a turn that are read for what its speaker likes better."""


def traits(text: str, wanted: int) -> int:
    """Those of the wanted traits that a turn's text has, as bits; each costs time of its own."""
    found = 0
    if wanted & HAS_QUESTION and ("?" in text or "？" in text):
        found |= HAS_QUESTION
    if wanted & ENDS_ASKING and ends_asking(text):
        found |= ENDS_ASKING
    if wanted & STANDING and asks_for_good(text):
        found |= STANDING
    if wanted & PREFERS and _PREFERS.search(text[:LIKING_READ].casefold()):
        found |= PREFERS
    if wanted & (HAS_TIME | HAS_NUMBER | SELF):
        folded = text.casefold()
        for trait, signs in _SIGNS:
            if wanted & trait and signs.search(folded):
                found |= trait
    return found


_SIGNS = ((HAS_TIME, _TIME), (HAS_NUMBER, _NUMBER), (SELF, _SELF))


def ends_asking(text: str) -> bool:
    """Whether a text ends in a question, whatever quotes, emoji or remarks in brackets stand after it."""
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        if not end or text[end - 1] != "]":
            break
        begin = text.find("[", text.rfind("]", 0, end - 1) + 1, end)
        if begin < 0:
            break
        end = begin
    while end and _AFTER_QUESTION.match(text[end - 1]):
        end -= 1
    return end > 0 and text[end - 1] in "?？"


def asks_assistant(question: str) -> bool:
    """Whether a case-folded question asks what the assistant said: "did you recommend", 你给我推荐."""
    rest = _ASIDE.sub(" ", question)
    if not holds_han(rest):
        return _YOU_SAID.search(rest) is not None
    subject = ""
    for part in _PARTS.split(rest):
        if match := _PERSON.search(part):
            subject = match[0]
    return subject in {"你", "您"}


def asks_when(question: str) -> bool:
    """Whether a case-folded question asks for a time."""
    return _WHEN.search(question) is not None


def asks_many(question: str) -> bool:
    """Whether a case-folded question asks for a number."""
    return _MANY.search(question) is not None


def asks_advice(question: str) -> bool:
    """Whether a case-folded question asks for advice, a proposal or help: what somebody likes better has a say in it."""
    return _ADVICE.search(question) is not None


def last_sentence(question: str) -> str:
    """The last of several sentences; empty where there is only one."""
    sentences = [one for one in _SENTENCE.split(question) if one.strip()]
    return sentences[-1] if len(sentences) > 1 else ""


def named_speakers(question: str, names: Mapping[str, int]) -> tuple[list[int], str]:
    """The speakers a case-folded question names, in its order, and the question without their names."""
    found: list[int] = []

    def note(match: re.Match[str]) -> str:
        speaker = names.get(match[0])
        if speaker is None:
            return match[0]
        found.append(speaker)
        return " "

    rest = _WORD.sub(note, question)
    for name, speaker in names.items():  # scripts without spaces
        if not name.isascii() and name in rest:
            found.append(speaker)
            rest = rest.replace(name, " ")
    return list(dict.fromkeys(found)), rest.replace(" 's", " ")
