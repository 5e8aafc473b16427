"""What the sentence that a proposal quotes does: asserts, asks, supposes, takes something back, asks to forget. Pure.

Read by word lists, whatever a model says of it: a memory rests on what its speaker asserts, and nothing is taken back or
deleted but by a sentence that does so, about the thing itself.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.contradiction.alignment import align
from engramlog_server.projections.language.contradiction.reading import read
from engramlog_server.projections.language.extraction.rules import clauses
from engramlog_server.projections.language.extraction.shape import Clause
from engramlog_server.projections.language.extraction.text import talk_of
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.text import kept_tokens

REVERSED, COVERED = 0.6, 0.75
"""Share of a content's words that a sentence denies, or of which it says the opposite, from which it says the reverse."""
MOST_READ = 2_000
"""Characters of the sentences around a quotation that are read."""
_SENTENCE = regex(r"[^.!?。！？；;\n]+(?:\.(?=\w)[^.!?。！？；;\n]+)*[.!?。！？；;]*")
_LED = r"^(?:(?:and|but|so|or|well|oh|hey|hmm|ok(?:ay)?|now|then|also|actually|please|just|yeah|yes|no)[, ]+)*"
_YES_NO = regex(
    _LED + r"(?:(?:do|does|did|is|are|am|was|were|have|has|had|should|shall|may|might|must|isn't|aren't|don't|doesn't"
    r"|didn't)\b|(?:can|could|would|will) (?:i|we|it|he|she|they|my|the|a|this|that|there)\b|what if\b)",
    re.IGNORECASE,
)
_YES_NO_CHINESE = regex("吗|是不是|有没有(?!什么)|要不要|会不会|能不能|可不可以|该不该|吧[?？]")
_IF = regex(
    r"\b(?:if|unless|suppos(?:e|ing)|imagine|pretend|what if|assuming|hypothetically|let's say"
    r"|in (?:my|the|a|this|that) (?:\w+ )?(?:novel|story|dream|game|book|script|poem|song))\b"
    "|如果|要是|假如|假设|倘若|万一|的话(?=[，,。！!]|$)|除非|梦见|梦到|开玩笑|在(?:我的?)?(?:梦|小说|故事|游戏|剧本)里",
    re.IGNORECASE,
)
_INDIRECT = regex(r"(?:wonder\w*|sure|see|know|ask\w*|check|tell|unsure|decid\w*|find out|figure out|debating)\s*$")
_HEDGE = regex(
    r"\b(?:maybe|perhaps|might|possibly|probably|i guess|apparently|rumou?r\w*)\b"
    "|可能|也许|或许|大概|说不定|没准|听说|据说|好像",
    re.IGNORECASE,
)
_TITLE = regex("《[^》]*》")
_NOT = regex(r"(?:\b(?:not|never|haven't|hasn't|didn't|don't|won't|isn't|wasn't)|没有?|还没|从未)\s*$", re.IGNORECASE)
_LIGHT_TEXT = """
user like love have has go live work job do make get want use take see know think feel enjoy 用户 用 户 喜欢 喜 欢 有 去 是 想 做 爱
"""
LIGHT = frozenset(_LIGHT_TEXT.split())
"""Words that say little about what is meant, as tokens and as canonical forms."""
_QUOTED = regex(r"[\"“«「『]([^\"”»」』]{1,400})[\"”»」』]")
_OWN = regex(r"\b(?:I|I'm|I've|I'll|my|me|we)\b|我", re.IGNORECASE)
_REPORTS = regex(
    r"\b(?P<who>my \w+|he|she|they|[A-Z]\w+|the \w+) (?:says?|said|claims?|claimed|thinks?|believes?|told (?:me|us))\b"
    r"(?! (?:to|no|yes))"
)
_NEAR = "friend|boss|manager|teacher|colleague|neighbou?r|roommate|flatmate|dog|cat"
_NEAR_HAN = "先生|朋友|同事|老板|领导|室友|邻居|老师|狗|猫"


@cache
def _near() -> str:
    """Others whom one has: relatives and whoever else is near, in English."""
    return rf"{kin.english()}|{_NEAR}"


@cache
def _near_han() -> str:
    """The same in Chinese."""
    return f"{kin.chinese()}|{_NEAR_HAN}"


_OTHERS = regex(
    lambda: (
        _LED
        + rf"(?:(?:my|our) (?P<kin>{_near()})(?:s|ren)?|he|she|they)\b(?! (?:and i|say|think|call|ask|told|want me)\b)"
        rf"|^(?:我的?(?:{_near_han()})|他们?|她们?)(?![们]?[和跟与叫让][我])"
    ),
    re.IGNORECASE,
)
_IS_OF_OTHERS = regex(lambda: rf"\b(?:{_near()})(?:s|ren)?\b|{_near_han()}", re.IGNORECASE)
_ENDS = regex(
    r"\b(?:any ?more|no longer|used to|quit|stopp?(?:ed|ing)?|gave up|given up|sold|lost|broke (?:up|off|down)|split up"
    r"|divorc\w+|cancell?\w*|call(?:ed)? off|postpon\w+|reschedul\w+|put off|moved?|switch\w*|changed?|left|died"
    r"|passed away|finished|graduated|promoted|retired|resigned|fired|laid off|instead|became|become|turned|replaced"
    r"|returned|gave (?:it )?away|former(?:ly)?|correct(?:ion)?|wrong|mistaken?|from now on|from here on|these days"
    r"|scratch that|sorry|actually|i mean(?:t)?|increas\w+|decreas\w+|improved|raised|extended|no more|not true|untrue)\b"
    "|不再|不[^，,]{0,12}了|没[^，,]{0,8}了|戒|辞|离|卖|丢|搬|换|改|停|退|取消|推迟|提前|延期|分手|毕业|去世|过世|升职|升为|变成|成了"
    "|已经|其实|而是|更正|纠正|说错|曾经|以前|弄错|记错|岁",
    re.IGNORECASE,
)
_FORGET = regex(
    _LED
    + r"(?:(?:can|could|would|will) you |you (?:can|may|should) |i(?:'d| would)? (?:want|like|need) you to |i want to )?"
    r"(?:please |just |kindly |now |also )*(?:forget\b(?! (?:to|(?:about )?(?:it|that|this)(?=[ ,.!]*(?:$|,|\.|!)))\b)"
    r"|(?:delete|remove|erase|wipe|clear|drop|discard|strike|scratch|purge)\b"
    r"(?=[^.!?]*\b(?:memory|memories|record\w*|notes?|data|profile|know|said|told|mentioned|about|everything|anything|all"
    r"|that i)\b)|(?:do not|don't|stop|never) (?:remember|stor|sav|keep|not|record)\w*\b)"
    r"|\b(?:rather|wish|prefer) (?:that )?you (?:didn't|did not|wouldn't|not) (?:remember|store|keep|save)\b"
    r"|\bscratch that\b|^(?:pretend|act as if) i never (?:said|told|mentioned)\b",
    re.IGNORECASE,
)
_FORGET_CHINESE = regex(
    "(?<![别没难勿])(?<!不要)(?<!不会)(?<!不能)(?<!差点)忘(?:了|掉|记|却)(?!带|拿|买|做|去|写|关|锁|吃)"
    "|删(?:除|掉|了|去)?(?=[^。！？!?]{0,20}(?:记忆|记录|信息|说过|说的|关于|事))"
    "|(?:记忆|记录|信息|关于|说过|说的)[^。！？!?]{0,20}(?:删|清|抹)"
    "|(?:别|不要|不用|不必|无需|甭)再?(?:帮我|替我|给我)?(?:记(?:着|得|住|录|下)?|保存|存)|就?当我没说"
)
_NARRATES = regex(
    r"我们?(?:已经|刚刚?|都|也|又|就|总是?|经常|常常?|差点|不小心|昨[天晚]|今[天早])*(?:把[^，,]{1,10})?(?:忘|删)"
    r"|忘不了|(?:他|她|它)[^，,]{0,8}(?:忘|删)"
)


class Quotation(NamedTuple):
    """The part of a turn that a proposal quotes."""

    clause: Clause | None
    """Of the clauses that are quoted the one that shares most words with the content."""
    sentence: str
    """The sentences that are quoted."""
    around: str
    """The same with the sentence before and after."""
    quoted: bool
    """Whether it stands in quotation marks, in the first person."""


NOTHING = Quotation(None, "", "", quoted=False)


def ground_of(text: str, quote: str, content: str = "") -> Quotation | None:
    """Where a quotation stands in what a turn says; None where it stands only in code, in quoted lines or nowhere."""
    talk = talk_of(text).text
    place = _place(quote, talk)
    if place is None:
        return None
    start, end = place
    sentences = [(one.start(), one.end()) for one in _SENTENCE.finditer(talk)]
    held = [at for at, (a, b) in enumerate(sentences) if a < end and start < b]
    if not held:
        return None
    first, last = held[0], held[-1]
    wanted = set(kept_tokens(content or quote))
    cut = [one for one in clauses(talk) if one.start < end and start < one.end]
    cut.sort(key=lambda one: -len(wanted & set(kept_tokens(one.text))))
    inside = [(one.start(1), one.end(1)) for one in _QUOTED.finditer(talk) if _OWN.search(one[1]) and len(one[1]) > 5]
    around = talk[sentences[max(first - 1, 0)][0] : sentences[min(last + 1, len(sentences) - 1)][1]]
    return Quotation(
        cut[0] if cut else None,
        talk[sentences[first][0] : sentences[last][1]][:MOST_READ].strip(),
        around[:MOST_READ].strip(),
        any(a <= start and end <= b for a, b in inside),
    )


def unasserted(ground: Quotation, content: str, *, any_question: bool = False) -> str | None:
    """Why the quoted words state nothing that the content may rest on; None where they do.

    What is beside the point of a question may be stated in it ("how do I get there from my flat in Camden?"), unless
    `any_question` is told to state nothing.
    """
    clause = ground.clause
    if ground.quoted:
        return "another's words"
    if clause is None:
        return None
    text = clause.text.strip()
    asked = ground.sentence.rstrip().endswith(("?", "？")) or clause.question
    if asked and (any_question or _YES_NO.search(text) or _YES_NO_CHINESE.search(text)):
        return "a question"
    if _supposes(text) or (_IF.match(ground.sentence) and not clause.asserted):
        return "a supposition"
    if _HEDGE.search(text) and not _HEDGE.search(content):
        return "a supposition"
    return _of_another(f"{clause.before} {text}", text, content)


def says_reverse(ground: Quotation, content: str) -> bool:
    """Whether the content denies what the quoted sentence affirms, or affirms what it denies."""
    told, said = read(content[:MOST_READ]), read(ground.sentence)
    aligned = align(told, said)
    size = max(1, told.size - 1)  # who it is about
    clash = sum(weight for _, _, weight in aligned.clash)
    if told.denied and not said.denied and _ENDS.search(ground.around):
        return False
    if len(aligned.clash) and clash >= REVERSED * size:
        return True
    covered = 1 - max(0, aligned.left_a.total() - 1) / size
    return len(aligned.reverse) % 2 == 1 and not aligned.clash and covered >= COVERED


def takes_back(ground: Quotation, known: str) -> bool:
    """Whether the quoted sentence denies what is known, or tells of a change where it, or a sentence beside it, names that."""
    said, told = read(ground.sentence), read(known)
    denied = (said.denied.keys() & told.affirmed.keys()) | (said.affirmed.keys() & told.denied.keys())
    if denied - LIGHT:
        return True
    if set(kept_tokens(known)).isdisjoint(set(kept_tokens(ground.around)) - LIGHT):
        return False
    return any(_NOT.search(ground.sentence[: one.start()]) is None for one in _ENDS.finditer(ground.sentence))


def asks_to_forget(ground: Quotation) -> bool:
    """Whether the quoted sentence asks for something to be forgotten; "don't forget", 别忘了 and "I forgot" ask for nothing."""
    return any(
        _FORGET.search(one.strip()) is not None
        or (_FORGET_CHINESE.search(one) is not None and _NARRATES.search(one) is None)
        for one in (found[0] for found in _SENTENCE.finditer(ground.sentence))
    )


def _supposes(text: str) -> bool:
    text = _TITLE.sub("", text)
    return any(not _INDIRECT.search(text[: found.start()].lower()) for found in _IF.finditer(text))


def _of_another(reported: str, text: str, content: str) -> str | None:
    """Whether what is said is said by, or of, somebody whom the content leaves out."""
    told = set(kept_tokens(content))
    report = _REPORTS.search(reported)
    if report is not None and told.isdisjoint(kept_tokens(report["who"])):
        return "another's words"
    other = _OTHERS.search(text)
    if other is None or _IS_OF_OTHERS.search(content):
        return None
    after = text[other.end() :].split()[:2] if other["kin"] else []
    return (
        "about somebody else"
        if told.isdisjoint(kept_tokens(" ".join(one for one in after if one[0].isupper())))
        else None
    )


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """Start and end of a quotation in a text, white space, punctuation and case aside."""
    wanted, (letters, places) = _letters(quote)[0], _letters(text)
    found = letters.find(wanted) if wanted else -1
    return None if found < 0 else (places[found], places[found + len(wanted) - 1] + 1)


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text in one writing, and where each stands."""
    letters: list[str] = []
    places: list[int] = []
    for at, one in enumerate(text):
        for letter in unicodedata.normalize("NFKC", one).casefold():
            if letter.isalnum():
                letters.append(letter)
                places.append(at)
    return "".join(letters), places
