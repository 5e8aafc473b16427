"""Standing instructions: what the speaker asks the assistant to do, or not to do, from now on. English and Chinese.

"Always answer in French", "never call me before nine", "from now on use metric units", 以后请用中文回答, 以后都叫我老王. It is a
request in the form of one, said of every time: a habit ("I always ...", 以后我想 ...), a wish for another ("never give up") and one
single request ("please answer in French") are none. Of two named people who talk only what is about the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from re import IGNORECASE, Pattern

from engramlog_server.projections.language.extraction.keeping import Keeping
from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.lexicon import of_role
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import holds_han

INSTRUCTION = "instruction"
"""The kind of what is made of them."""
MOST_ASKED, LEAST_ASKED = 240, 5
"""Characters of an instruction; a longer one would be cut, and might say another thing then: it is none."""
_LED = (
    r"(?:(?:please|pls|hey|hi|and|also|so|but|oh|ok|okay|just|well|plus|btw|by the way|one more thing|yes|no|thanks|important)\b"
    r"[,:!.]*\s+){0,4}"
)
_LED_CHINESE = "(?:(?:另外|还有|对了|那么?|好的?|嗯|哦|你好|谢谢|不过|而且|所以)[，,：:！!。 ]*){0,3}"
_TAIL = r"(?:from now on(?:wards)?|from today on|going forward|henceforth|in (?:the )?future|from here on(?: out)?)"
_EACH = (
    r"(?:whenever|every time|each time|any time|anytime|when(?:ever)?) (?:I|we) "
    r"(?:ask|say|tell|talk|write|send|mention|request|want|need|share|paste|post|am|'m)\b"
)
_ANSWERS = "(?:answers|replies|responses|messages|explanations)"
"""Said of all of them: "keep your answers short"; "keep your answer short" is about one."""
_MOST_READ = 1_000
_SENTENCES = regex(r"(?<=[。！？!?；;\n])|(?<=[.])\s")
_WHO_IS_ASKED = regex(r"\b(?:I|my) (?:\w+ )?(?:always|never)\b", IGNORECASE)
ANSWERS_IN, IS_ADDRESSED, MEASURES_IN = "wants answers in", "wants to be addressed as", "wants units"
ANSWERS_IN_CHINESE, IS_ADDRESSED_CHINESE, MEASURES_IN_CHINESE = "要求回答用", "要求称呼", "要求单位用"
WISHES = frozenset(
    {ANSWERS_IN, IS_ADDRESSED, MEASURES_IN, ANSWERS_IN_CHINESE, IS_ADDRESSED_CHINESE, MEASURES_IN_CHINESE}
)
"""Predicates of wishes; the newest wish holds."""


_role = partial(of_role, "instructing")


@cache
def _wants(language: str) -> tuple[tuple[Pattern[str], str], ...]:
    """What is wanted that has one value at a time, each with its predicate."""
    tongue = f"(?P<object>{_role('language', language)})"
    if language == "chinese":
        said = "(?:回答|回复|回我|写|说|讲|交流|聊|沟通)"
        return (
            (re.compile(f"用{tongue}[^，。]{{0,4}}{said}"), ANSWERS_IN_CHINESE),
            (re.compile("(?:叫我|称呼我(?:为|叫)?)(?P<object>[^，。！？\\s的吧就了]{1,10})"), IS_ADDRESSED_CHINESE),
            (re.compile("用(?P<object>公制|英制)"), MEASURES_IN_CHINESE),
        )
    said = r"\b(?:answer|respond|reply|write|speak|talk)\b[^.;]{0,30}"
    name = r"(?P<object>[A-Z][\w'.-]*(?: [A-Z][\w'-]*){0,3})"
    return (
        (re.compile(rf"{said}\bin {tongue}\b", IGNORECASE), ANSWERS_IN),
        (re.compile(rf"\b(?i:call|address) me (?:as |by )?{name}"), IS_ADDRESSED),
        (re.compile(r"\buse (?:the )?(?P<object>metric|imperial)\b", IGNORECASE), MEASURES_IN),
    )


@cache
def _english() -> tuple[Pattern[str], ...]:
    """The ways to ask for something for good; a sentence is one by any of them."""
    word = {role: _role(role, "english") for role in ("verb", "asking", "ever", "head", "idle")}
    verb = rf"(?:(?:also|please|kindly|just)\s+)?(?:{word['verb']})\b"
    negated = r"(?:don't|do not|never|always|stop|avoid)\s+(?:ever\s+)?"
    return tuple(
        re.compile(rf"(?!(?:{word['idle']})\b){_LED}{form}", IGNORECASE)
        for form in (
            rf"(?!(?:{word['idle']})\b)(?:(?:{word['asking']})\s+)?(?:{word['ever']})\s+(?:{verb}|\w+ing me\b)",
            rf"(?:{word['head']})\b,?\s+(?:{_LED})?(?:(?:{word['asking']})\s+)?(?:(?:{negated})?{verb}|stop \w+ing\b|no more\b)",
            rf"(?:(?:{word['asking']})\s+)?(?:(?:{negated})?{verb}|stop \w+ing\b)[^.!?\n]{{2,180}}[\s,]{_TAIL}\W*$",
            rf"{_EACH}[^,\n]{{0,80}},\s*(?:{_LED})?(?:(?:{word['asking']})\s+)?(?:{negated})?{verb}",
            rf"(?:(?:{word['asking']})\s+)?(?:{negated})?{verb}[^.!?\n]{{2,160}}\s{_EACH}",
            rf"(?:don't|do not) ever\s+{verb}",
            rf"(?:(?:{word['asking']})\s+)?keep (?:all )?(?:of )?(?:your |the )?{_ANSWERS}\s+(?!coming\b)[^.!?\n]{{2,160}}$",
            rf"(?:(?:{word['asking']})\s+)?{negated}{verb}[^.!?\n]{{2,100}}\sin (?:any |all )?(?:your |the )?{_ANSWERS}\W*$",
            rf"I(?:'d| would) (?:rather|prefer)(?: it)?(?: if| that)? you (?:didn't|did not|don't|not|always|never)\s+{verb}",
            r"(?:(?:don't|do not|stop) (?:call|address)|stop (?:call|address)ing) me\b",
            rf"(?:don't|do not|stop)\s+(?:{verb}|\w+ing)[^.!?\n]{{2,100}}\s(?:ever again|any ?more|any longer)\W*$",
        )
    )


@cache
def _chinese() -> tuple[Pattern[str], ...]:
    word = {role: _role(role, "chinese") for role in ("verb", "asking", "ever", "head", "idle")}
    verb = f"(?:{word['verb']})"
    asked = f"(?:{word['asking']}|都|就|要|{word['ever']}|统一)"
    negated = "(?:不要再?|别再?|不用再?|不许|不准|禁止)"
    at = "(?:在?(?:早上|晚上|中午|凌晨|半夜|周末|深夜|上班时间|工作时间|[\\d一二三四五六七八九十]+点(?:之?前|之?后|以前|以后)?))?"
    asking_it = "(?:我(?:问|说|提到|发)[^，。]{1,15}(?:时候?|的话)[，,]?)?"
    answers = "(?:回答|回复|回我|跟我|和我|写|说|讲|交流|沟通)"
    onward = (
        f"(?:{word['asking']})?(?:{word['head']})[，, ]?{asking_it}{at}(?:{asked}){{0,3}}"
        f"(?:(?<=请|你|您){negated}?{at}{verb}|{negated}{at}[^，。我]{{0,8}}(?:给我|叫我|称呼我|帮我(?:排|安排|约|订|买|定)|打|发|问我|催|联系|打扰|用|推荐|安排|预订|提醒)"
        f"|(?:用[^，。我]{{1,10}}{answers}|叫我|称呼我|提醒我|给我|告诉我|回答|回复|跟我说|直接|先问|单位用))"
    )
    return tuple(
        re.compile(f"(?!{word['idle']}){_LED_CHINESE}{form}")
        for form in (
            onward,
            f"(?:[^，。我]{{0,3}}我[^，。]{{0,8}}时候?[，,]?)?(?:{word['asking']})(?:{asked}){{0,2}}(?:{word['ever']})(?:{asked}){{0,2}}{negated}?{at}{verb}",
            f"(?:{word['ever']})(?:请|请你|麻烦你|你都要|你要)(?:{asked}){{0,2}}{negated}?{at}{verb}",
            f"(?:每次|每当|当)我[^，。]{{1,20}}(?:时候?|的时候)?[，,]?(?:你|都){{0,2}}(?:请|务必|记得|你要|要)(?:你|都){{0,2}}{negated}?{at}{verb}",
            "(?:请|请你|麻烦你?)?(?:别再|不要再|再也别|再也不要)(?:给我|叫我|问我|催我|打扰我|联系我|发|打|推荐|跟我|用)",
        )
    )


_HINTS = (
    "rather|prefer|call|address|always|never|ever|from now|from today|from this|from here|forward|henceforth|future"
    "|answers|replies|responses|messages|explanations|every time|each time|"
    "any time|anytime|when i|when we|any more|anymore|any longer|again|以后|今后|往后|之后|从今|从现|开始|始终|总是|永远|一直|"
    "每次|每当|当我|务必|一律|必须|别再|要再|再也"
)
HINTS = tuple(_HINTS.split("|"))
"""Some part of every standing instruction: a text without one is not looked at further."""


def asks_for_good(text: str) -> bool:
    """Whether some sentence among the first thousand characters has the form of a standing instruction, for any speaker."""
    begin = text[:_MOST_READ].replace("’", "'")
    if not _hinted(begin):
        return False
    sentences = (sentence.strip(_MARKS) for sentence in _SENTENCES.split(begin))
    return any(
        form.match(said)
        for said in sentences
        if LEAST_ASKED - 1 <= len(said) <= MOST_ASKED and _hinted(said) and not _WHO_IS_ASKED.search(said)
        for form in (_chinese() if holds_han(said) else _english())
    )


def _hinted(text: str) -> bool:
    folded = text.casefold()
    return any(hint in folded for hint in HINTS)


def instructions(
    clauses: Sequence[Clause], text: str, turn: TurnText, keeping: Keeping, *, han: bool
) -> Iterator[ExtractedStatement]:
    """The standing instructions of a text, in order. `clauses`: those of the text in one language."""
    at = 0
    while at < len(clauses):
        last = at
        while clauses[last].after and last + 1 < len(clauses):
            last += 1
        yield from _of_sentence(clauses[at : last + 1], text, turn, keeping, han=han)
        at = last + 1


def _of_sentence(
    sentence: Sequence[Clause], text: str, turn: TurnText, keeping: Keeping, *, han: bool
) -> Iterator[ExtractedStatement]:
    end = next((one.start for one in sentence[1:] if one.question), sentence[-1].end)
    whole = text[sentence[0].start : sentence[-1].end]
    asks = whole.rstrip().endswith(("?", "？"))
    if keeping.said_so.search(whole):
        return
    if asks and not han and _POLITE.match(whole):
        asks, end = False, sentence[-1].end
    for at, clause in enumerate(sentence):
        if clause.start >= end or (asks and end == sentence[-1].end and not _TAG.search(text[clause.start : end])):
            return
        before = text[sentence[0].start : clause.start]
        said = " ".join(_TAG.sub("", text[clause.start : end].replace("’", "'")).split()).strip(_MARKS)
        if not LEAST_ASKED - 1 <= len(said) <= MOST_ASKED or (at and keeping.doubtful.search(before)):
            continue
        if any(form.match(said) for form in (_chinese() if han else _english())) and _is_asked(said, turn, keeping):
            name = turn.name or keeping.user
            content = f"{name}的长期要求：{said}" if han else f"{name} has a standing request: {said}"
            triple = _wanted(said, name, han=han)
            yield ExtractedStatement(
                content, "stable_preference", INSTRUCTION, 1, True, 0.85, (clause.start, end), (), triple
            )
            return


_MARKS = " ,.;:!?。，；：！？…~-–—*"
_POLITE = regex(rf"\s*{_LED}(?:can|could|would|will) you (?:please )?(?:always|never)\b", IGNORECASE)
_DENIED = regex(r"\b(?:don't|do not|never|stop|avoid)\b|不|别", IGNORECASE)
_TAG = regex(
    r"(?:[，,]? ?(?:好吗|可以吗|行吗|好不好|谢谢你?|拜托了?)"
    r"|,? (?:please|ok|okay|thanks|thank you|will you|would you))[?？!！.。\s]*$",
    IGNORECASE,
)


def _is_asked(said: str, turn: TurnText, keeping: Keeping) -> bool:
    """Whether the assistant is asked: not a habit of the speaker; between two named people only what is about the speaker."""
    if _WHO_IS_ASKED.search(said):
        return False
    return turn.name is None or keeping.first_person.search(said) is not None


def _wanted(said: str, name: str, *, han: bool) -> StatedTriple | None:
    """What is wanted where it is a thing that has one value at a time: the language of answers, a name, units."""
    if _DENIED.search(said):
        return None
    for form, predicate in _wants("chinese" if han else "english"):
        found = form.search(said)
        if found is not None:
            return StatedTriple(name, predicate, found["object"])
    return None
