"""What the speaker asks for: what to remember, what was decided, and standing instructions to the assistant. English and Chinese.

One engine for both languages, on the words of `lexicon/keeping.tsv`. A cue stands at the beginning of a clause, after words of
politeness at most; what follows it in the sentence is kept, up to a question, and the next sentence where nothing follows. A
question whether somebody remembers, a reminiscence ("remember when ..."), another's words and a supposition keep nothing.

A standing instruction says what the assistant is to do, or not to do, from now on: "Always answer in French", "never call me
before nine", "from now on use metric units", 以后请用中文回答, 以后都叫我老王. It is a request in the form of one, said of every
time: a habit ("I always ...", 以后我想 ...), a wish for another ("never give up") and one single request ("please answer in
French") are none. Of two named people who talk only what is about the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from re import IGNORECASE, Match, Pattern
from typing import NamedTuple

from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.lexicon import of_role
from engramlog_server.projections.language.patterns import holds_han, regex
from engramlog_server.projections.language.times.calendar import MONTH, WEEKDAY

MOST_SAID, LEAST_SAID = 300, 2
"""Characters of what is kept: what is longer ends in an ellipsis, what is shorter says nothing."""
MOST_LEADS = 4
"""Words of politeness that are read over: some begin alike, and many in a row must not cost time without end."""
_ENDS = " ,.;:!?。，；：！？…~-–—*"
_TAG = regex("(?:[，,]?(?:好|可以|行)?吗|,? (?:please|ok|okay))$", IGNORECASE)
"""What makes a request polite at its end."""
_TIMES = regex(rf"(?:the )?(?:{WEEKDAY}|{MONTH}|\d)", IGNORECASE)
"""A time when something was decided, or what was: the form does not decide which."""
_REASON = regex(r"\s(?:for|as|because|since|so|instead|rather|over|and|but|with)\b.*$", IGNORECASE)
_POINTS = regex(r"\b(?:it|this|that|these|those|them|something|one)\b|[这那它]|什么", IGNORECASE)
_PLAYS = regex(r"(?:that )?(?:you(?:'re| are)|I(?:'m| am)|let's|we(?:'re| are))\b|你(?:就?是|扮)", IGNORECASE)
"""A part to be played, or what is done in this talk."""
_LEANS = regex(
    r"\b(?:it|this$|that(?= \w+$)|that \w+ (?:yesterday|earlier)|previously|earlier|yesterday)\b", IGNORECASE
)
"""What was decided before, or of what is said elsewhere."""
_ORDERS = regex(
    r"\W*(?:(?:so|and|please),? )*(?:(?:please|help me|remind me|write|draft|send|tell|let) \w|(?:请|帮|给|替)我?|麻烦|提醒我|你)",
    IGNORECASE,
)
"""What the assistant is to do about a decision: no part of it."""
ENOUGH = 0.6
"""Share of what is to be remembered that typed statements must cover to stand for it."""


class Cue(NamedTuple):
    """What stands at the beginning of a clause, and what it makes of the rest."""

    role: str
    """remember, onward or decided."""
    end: int
    """Where what is to be kept begins in the clause."""
    polite: bool = False
    """A request in the form of a question."""


class Keeping(NamedTuple):
    """Patterns and texts of one language."""

    cues: Pattern[str]
    past: Pattern[str]
    """What follows "remember" where somebody only recalls, wishes another well or points elsewhere."""
    doubtful: Pattern[str]
    """What makes words before a cue a supposition or another's words."""
    first_person: Pattern[str]
    second_person: Pattern[str]
    said_so: Pattern[str]
    """What behind a sentence makes it another's words."""
    goal: Pattern[str]
    """What was decided: the verb and what to do."""
    templates: dict[str, str]
    """Contents by role; `said` stands for the speaker's own words."""
    group: str
    """Who decided, as the subject of a triple."""
    predicates: dict[str, str]
    day: str
    user: str


_words = partial(of_role, "keeping")


def _english_cues() -> str:
    word = {role: _words(role, "english") for role in _ROLES}
    when = (
        r"(?:for|in|on|at) (?:this|our|the) [\w-]+,?\s+|(?:after|in|at) (?:[\w-]+ ){0,3}[\w-]+,? (?=we\b)"
        r"|(?:last|this) (?:night|week|weekend|month),?\s+|(?:yesterday|today),?\s+"
    )
    decided = (
        rf"(?:{word['deciders']})(?:'ve| have| has)?(?: (?:now|just|finally|eventually|all|both|jointly|also|already|together))*"
        rf" (?:{word['decides']})|{word['decided']}"
    )
    return (
        rf"(?:(?:{word['lead']})\b[,:!.]*\s+){{0,{MOST_LEADS}}}(?:{when})?"
        rf"(?:(?P<polite>{word['polite']})\s+(?:please\s+)?(?:always\s+)?(?=[^?]*\bthat\b))?"
        rf"(?:(?P<remember>(?:{word['remember']}|{word['mind']})\b(?:\s+(?:of\s+)?(?:that|this|the following|one thing|down|to))?"
        rf"|(?:{word['weakly']})\b(?:\s+that\b|\s*(?=:)))|(?P<onward>(?:{word['onward']})\b)"
        rf"|(?P<decided>(?:{decided})\b|(?:{word['decision']})\b(?=\s*(?::|is\b|was\b))))[\s,:;.!…–—-]*"
    )


def _chinese_cues() -> str:
    word = {role: _words(role, "chinese") for role in _ROLES}
    decided = (
        rf"(?:{word['deciders']})(?:已经|最终|最后|终于|一致|刚刚?|一起|今天|昨天|都|讨论后?|商量后?|开会)*(?:{word['decides']})"
        rf"|{word['decided']}"
    )
    return (
        rf"(?:(?P<polite>{word['polite']})(?:请?你|请?您)?(?=.*[吗?？]))?(?:(?:{word['lead']})[，,：: ]*){{0,{MOST_LEADS}}}?"
        rf"(?:(?P<remember>(?:{word['mind']}|{word['remember']})(?:一下|了|哦|啊|下)?"
        rf"(?:(?:这个|这点|这一点|这件事|以下)(?=\s*[：:，,。]))?|(?:{word['weakly']})(?:一下(?=[：:，, ]|$)|(?=[：:，, ]))"
        "|[^，。！？我你您]{0,9}(?:记得|前|后|时候?|时)(?:记得)?提醒我(?=[^，。？?]{2}))"
        rf"|(?P<onward>{word['onward']})|(?:最后|最终|后来|昨天|今天|刚才|刚刚)?"
        rf"(?P<decided>{decided}|(?:{word['decision']})(?=是|为|[：:])))[\s，,：:；;。.！!…]*"
    )


_ROLES = (
    "deciders",
    "decides",
    "lead",
    "polite",
    "remember",
    "weakly",
    "past",
    "wish",
    "onward",
    "mind",
    "decided",
    "decision",
)
_ENGLISH_END = r"(?=[\s,.!?:;]|$)"


@cache
def english_keeping() -> Keeping:
    """English."""
    return Keeping(
        regex(_english_cues, IGNORECASE),
        regex(
            lambda: r"(?:you(?:'re\b| (?:need|have|should|must|can|could|said|told|promised|were|are)\b)|(?:these|those|this|it"
            r"|they)"
            r" (?:is|are|was|were|will|has|have|can)\b|"
            rf"(?:{_words('past', 'english')}){_ENGLISH_END}|(?:to )?(?:{_words('wish', 'english')}){_ENGLISH_END}"
            r"|(?:it|this|that|those|these|them|everything|anything|all of (?:it|this|that))\W*$)",
            IGNORECASE,
        ),
        regex(
            r"\b(?:if|unless|suppos\w+|imagine|pretend|assuming|novel|story|dream|script|says?|said|told|asked|asks?|wrote"
            r"|replied|was like|goes|quote)\b",
            IGNORECASE,
        ),
        regex(r"\b(?:I|I'm|I've|I'll|I'd|my|me|mine|we|we're|we've|our|ours|us)\b", IGNORECASE),
        regex(r"\b(?:you|your|yours|yourself|you're|you've|you'll)\b", IGNORECASE),
        regex(r",[\s\"”']*(?:\w+ ){1,3}(?:said|says|told me|tells me|wrote|writes|used to say)\W*$", IGNORECASE),
        regex(
            r"(?:we(?:'ve| have)? )?(?:finally |all |both |jointly |also )*(?P<way>decided to|decided on|decided against"
            r"|decided that|settled on|agreed to|agreed on|agreed that)\s+(?P<what>[^,.;!?]{3,80})",
            IGNORECASE,
        ),
        {
            "remember": "{name} asked to remember: {said}",
            "onward": "{name} wants from now on: {said}",
            "decided": "{name}'s decision: {said}",
        },
        "{name} and others",
        {"decided to": "decided to", "agreed to": "decided to", "decided against": "decided against",
         "decided on": "chose", "settled on": "chose", "agreed on": "chose"},
        " (said on {day})",
        "User",
    )  # fmt: skip


@cache
def chinese_keeping() -> Keeping:
    """Chinese."""
    return Keeping(
        regex(_chinese_cues),
        regex(
            lambda: (
                rf"(?:我们?|你)?还?(?:{_words('past', 'chinese')})|(?:{_words('wish', 'chinese')})"
                "|(?:这些?|那些?|这个|那个|这点|它|此事|这件事|这一切|这些话)[。！!]*$"
            )
        ),
        regex(r"如果|要是|假如|假设|万一|除非|的话|小说|故事|剧本|梦里|说|问|告诉|写道|表示|回答|喊"),
        regex("我|咱"),
        regex("[你您]"),
        regex("[，,”」][^，,我]{1,8}(?:说|写道|告诉我|喊|表示)(?:过|道|的)?[。！!]*$"),
        regex(
            "(?:我们|咱们)?(?:已经|最终|最后|终于|一致|都|刚|一起)*(?P<way>决定|商定|约定|说定|敲定)了?(?P<what>[^，。；！？：]{2,30})"
        ),
        {
            "remember": "{name}要求记住：{said}",
            "onward": "{name}说从今以后：{said}",
            "decided": "{name}的决定：{said}",
        },
        "{name}等人",
        {"决定": "决定", "商定": "决定", "约定": "决定", "说定": "决定", "敲定": "选定"},
        "（{day}说）",
        "用户",
    )


_KEEPING_TEXT = (
    "remember|remind|forget|mind|memor|note|record|save |store |keep this|write |jot|from |forward|henceforth|decided|decision|"
    "settled|opted|chose|voted|选了|选定|选择了|拍板|"
    "agreed|stick|going with|记|提醒|商量|讨论|会上|忘|注意|备|存一下|从|自今|决定|定下|定了|商定|说定|说好|约定|敲定"
)
KEEPING_HINTS = tuple(_KEEPING_TEXT.split("|"))
"""Some part of every cue: a text without one is not looked at further."""


_IN_A_ROLE = regex(
    r"\b(?:you are to act|(?:want|need|like) you to act|(?:please|will|and|to) act) (?:as|like)\b|^\W*act (?:as|like)\b"
    r"|\b(?:like|as if) you (?:were|are) (?:the|an?)\b|\bpretend (?:to be|(?:that )?you)\b|(?:请|你)(?:来)?(?:扮演|充当)",
    IGNORECASE,
)
"""A prompt that gives the assistant a role: what it is to remember is about one task."""
_MOST_OF_A_ROLE = 300
"""Characters of a text in which such a role is given."""


def kept(clauses: Sequence[Clause], text: str, turn: TurnText, keeping: Keeping) -> Iterator[ExtractedStatement]:
    """What the speaker wants kept, in order. `clauses`: those of the text in one language."""
    begins = 0
    for at, clause in enumerate(() if _IN_A_ROLE.search(text[:_MOST_OF_A_ROLE]) else clauses):
        if not clause.before:
            begins = clause.start
        cue = _cue(clause, keeping)
        if cue is None or keeping.doubtful.search(text[begins : clause.start]):
            continue
        decided = cue.role == "decided"
        last, start = _to_the_end(clauses, at, without_orders=decided), clause.start + (0 if decided else cue.end)
        if clause.start + cue.end >= clauses[last].end and last + 1 < len(clauses):
            last = _to_the_end(clauses, last + 1)  # nothing follows in the sentence: the next one is meant
            start = start if decided else clauses[last if last == at else at + 1].start
        asks = (clause.question and not cue.polite) or (clauses[last].question and not (cue.polite and last == at))
        statement = _note_of(clause, cue, text[start : clauses[last].end], turn, keeping)
        if statement is not None and not keeping.said_so.search(text[begins : clauses[last].end]):
            yield statement._replace(asserted=not asks, span=(start, clauses[last].end))


def _cue(clause: Clause, keeping: Keeping) -> Cue | None:
    lead = len(clause.text) - len(clause.text.lstrip(" \t\n-–—*•,，#"))
    found = keeping.cues.match(clause.text.replace("’", "'"), lead)
    if found is None:
        return None
    role = next(role for role in ("remember", "onward", "decided") if found[role] is not None)
    end = lead if "提醒我" in found[0] else found.end()  # when to remind is part of it
    return Cue(role, end, found["polite"] is not None)


def _to_the_end(clauses: Sequence[Clause], at: int, *, without_orders: bool = False) -> int:
    """The last clause of the sentence, or the one before a question in it; with `without_orders` also before an order."""
    while clauses[at].after and at + 1 < len(clauses) and not clauses[at + 1].question:
        if without_orders and _ORDERS.match(clauses[at + 1].text):
            break
        at += 1
    return at


def _note_of(clause: Clause, cue: Cue, text: str, turn: TurnText, keeping: Keeping) -> ExtractedStatement | None:
    said = " ".join(text.split()).strip(_ENDS)
    if cue.polite:
        said = _TAG.sub("", said).strip(_ENDS)
    if cue.role == "onward" and _PLAYS.match(said):
        return None
    if cue.role == "remember" and (keeping.past.match(said) or not _ones_own(said, turn, keeping)):
        return None
    rest = keeping.cues.sub("", said, count=1).lstrip("了的吧") if cue.role == "decided" else said
    if len(rest) < LEAST_SAID or (cue.role == "decided" and _LEANS.search(rest)):
        return None
    said = said if len(said) <= MOST_SAID else f"{said[: MOST_SAID - 1].rstrip()}…"
    name = turn.name or keeping.user
    content = keeping.templates[cue.role].format(name=name, said=said)
    content += keeping.day.format(day=turn.day) if turn.day else ""
    kind = "decision" if cue.role == "decided" else "note"
    triple = _of_decision(keeping.goal.match(said), name, keeping) if cue.role == "decided" else None
    return ExtractedStatement(content, "fact", kind, 1, True, 0.8, (clause.start, clause.end), (), triple)


def _ones_own(said: str, turn: TurnText, keeping: Keeping) -> bool:
    """Whether the request is for the memory: two people who talk ask each other for much else."""
    if turn.name is None:
        return True
    return keeping.first_person.search(said) is not None and keeping.second_person.search(said) is None


def _of_decision(found: Match[str] | None, name: str, keeping: Keeping) -> StatedTriple | None:
    predicate = None if found is None else keeping.predicates.get(found["way"].casefold())
    what = "" if found is None else found["what"].strip()
    if predicate == "chose":
        what = "" if _TIMES.match(what) else _REASON.sub("", what)
    if predicate is None or not what or keeping.second_person.search(what) or _POINTS.search(what):
        return None
    return StatedTriple(keeping.group.format(name=name), predicate, what)


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


_INSTRUCTION_TEXT = (
    "rather|prefer|call|address|always|never|ever|from now|from today|from this|from here|forward|henceforth|future"
    "|answers|replies|responses|messages|explanations|every time|each time|"
    "any time|anytime|when i|when we|any more|anymore|any longer|again|以后|今后|往后|之后|从今|从现|开始|始终|总是|永远|一直|"
    "每次|每当|当我|务必|一律|必须|别再|要再|再也"
)
INSTRUCTION_HINTS = tuple(_INSTRUCTION_TEXT.split("|"))
"""Some part of every standing instruction: a text without one is not looked at further."""


def asks_for_good(text: str) -> bool:
    """Whether some sentence among the first thousand characters has the form of a standing instruction, for any speaker."""
    begin = text[:_MOST_READ].replace("’", "'")
    if not _hinted(begin):
        return False
    sentences = (sentence.strip(_ENDS) for sentence in _SENTENCES.split(begin))
    return any(
        form.match(said)
        for said in sentences
        if LEAST_ASKED - 1 <= len(said) <= MOST_ASKED and _hinted(said) and not _WHO_IS_ASKED.search(said)
        for form in (_chinese() if holds_han(said) else _english())
    )


def _hinted(text: str) -> bool:
    folded = text.casefold()
    return any(hint in folded for hint in INSTRUCTION_HINTS)


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
        if clause.start >= end or (
            asks and end == sentence[-1].end and not _POLITE_END.search(text[clause.start : end])
        ):
            return
        before = text[sentence[0].start : clause.start]
        said = " ".join(_POLITE_END.sub("", text[clause.start : end].replace("’", "'")).split()).strip(_ENDS)
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


_POLITE = regex(rf"\s*{_LED}(?:can|could|would|will) you (?:please )?(?:always|never)\b", IGNORECASE)
_DENIED = regex(r"\b(?:don't|do not|never|stop|avoid)\b|不|别", IGNORECASE)
_POLITE_END = regex(
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
