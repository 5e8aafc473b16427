"""What the speaker wants kept, in their own words: what to remember, what holds from now on, what was decided.

One engine for both languages, on the words of `lexicon/keeping.tsv`. A cue stands at the beginning of a clause, after words of
politeness at most; what follows it in the sentence is kept, up to a question, and the next sentence where nothing follows. A
question whether somebody remembers, a reminiscence ("remember when ..."), another's words and a supposition keep nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from re import IGNORECASE, Match, Pattern
from typing import NamedTuple

from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, StatedTriple, TurnText
from engramlog_server.projections.language.lexicon import of_role
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.times.names import MONTH, WEEKDAY

MOST_SAID, LEAST_SAID = 300, 2
"""Characters of what is kept: what is longer ends in an ellipsis, what is shorter says nothing."""
MOST_LEADS = 4
"""Words of politeness that are read over: some begin alike, and many in a row must not cost time without end."""
_MARKS = " ,.;:!?。，；：！？…~-–—*"
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
def english() -> Keeping:
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
def chinese() -> Keeping:
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


_HINTS = (
    "remember|remind|forget|mind|memor|note|record|save |store |keep this|write |jot|from |forward|henceforth|decided|decision|"
    "settled|opted|chose|voted|选了|选定|选择了|拍板|"
    "agreed|stick|going with|记|提醒|商量|讨论|会上|忘|注意|备|存一下|从|自今|决定|定下|定了|商定|说定|说好|约定|敲定"
)
HINTS = tuple(_HINTS.split("|"))
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
    said = " ".join(text.split()).strip(_MARKS)
    if cue.polite:
        said = _TAG.sub("", said).strip(_MARKS)
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
