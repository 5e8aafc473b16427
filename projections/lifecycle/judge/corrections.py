"""What is taken back: which known memory a speaker means, and whether turns bear out what a model says of them. Pure.

A retraction negates what it denies and puts nothing in its place. A correction puts one value in the place of another in what was
said just before. Both happen only where it is sure what is meant; else both memories are flagged, or nothing happens. What was
taken back since it was said does not come back by being told again (`JudgeRun.judge`).

A model may be wrong, or be talked into something by what it reads. So nothing it proposes is done that the turns themselves do not
bear out: its quotation must be in a turn, its names and most of its words too. Numbers and dates of a content must have been
said, or follow from the day on which it was said: "three" is 3 and 三, "yesterday" is a date, "five years ago" a year. Last comes
what the quoted sentence does: whether it asserts, takes back, or asks to forget.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache
from itertools import takewhile
from typing import NamedTuple, cast

from engramlog_server.events.catalogue import MemoryNegated
from engramlog_server.events.vocabulary import Category
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language import kin
from engramlog_server.projections.language.contradiction.change import Alike, no_model
from engramlog_server.projections.language.contradiction.relation import align, compare, read
from engramlog_server.projections.language.contradiction.slots import NUMBER_CHINESE, NUMBER_ENGLISH, value_of
from engramlog_server.projections.language.extraction.english_rules import in_third, third_person
from engramlog_server.projections.language.extraction.rules import clauses
from engramlog_server.projections.language.extraction.shape import Clause, ExtractedStatement, StatedTriple, talk_of
from engramlog_server.projections.language.extraction.taking_back import Corrected, Denial, HeldTo, Taken, values_of
from engramlog_server.projections.language.patterns import HAN, holds_han, regex
from engramlog_server.projections.language.text import kept_tokens, tokens
from engramlog_server.projections.language.times.calendar import MONTH, MONTHS, month_number
from engramlog_server.projections.lifecycle.judge.known import KnownMemory, core
from engramlog_server.projections.lifecycle.judge.statements import Claim, JudgeRun, ReadTurn, Verdict
from engramlog_server.projections.memory.record import DAY
from engramlog_server.projections.views.view import OwnerView

LEAST_SHARE = 0.5
"""Of the words of a content that must have been said."""
LEAST_QUOTED = 2
"""Letters and digits of a quotation."""
_NOT_LETTERS = regex(r"[\W_]+")
_ABOUT = frozenset(("user", "said", "on", "year", "old", "用户", "说", "用", "户", "岁")) | {
    token for month in MONTHS for token in kept_tokens(month)
}
"""Words of a content that need not have been said."""
_YES = regex(
    r"\s*(?:(?:yes|yeah|yep|yup|right|exactly|correct|sure|indeed|absolutely|definitely|true|that's (?:it|right)|of course)\b"
    r"|i (?:do|am|have|did|was)\b(?! not|n't)|(?:是|对(?!不起)|嗯|没错|当然|的确|确实))",
    re.IGNORECASE,
)
_NO = regex(r"\s*(?:no\b|nope\b|not |i (?:don't|haven't|didn't|am not)|不|没|对不起)", re.IGNORECASE)
_CAPITAL = regex(r"(?<=[^\s.!?:] )(?!I\b)[A-Z][\w'’-]*")
"""A name, inside a sentence."""


def plain(text: str) -> str:
    """Letters and digits only, compatibility forms and case folded: how quotations are compared."""
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold())


def is_quoted(quote: str, text: str) -> bool:
    """Whether the words stand in the text, white space, punctuation and case aside."""
    wanted = plain(quote)
    return len(wanted) >= LEAST_QUOTED and wanted in plain(text)


def unsaid(
    content: str, by: str, said: Iterable[str], name: str | None = None, *, known: str = "", named: Iterable[str] = ()
) -> str | None:
    """What speaks against a content as drawn from these texts: a name that nobody said, or mostly other words; None if nothing.

    Numbers and dates aside (`grounds_numbers`). `by`: the message that is quoted, of which something must be in the content,
    unless it only says yes. `said`: what people said around it; `named`: texts that names may stand in too. The name of who
    speaks, months, and what is `known` need not have been said.
    """
    heard = " ".join(said)
    free = _ABOUT | set(kept_tokens(f"{name or ''} {known}"))
    words = {word for word in kept_tokens(content) if word not in free and not word[0].isdecimal()}
    if not words:
        return None if known else "it says nothing"
    told, named_there = set(kept_tokens(f"{heard} {by}")), set(kept_tokens(" ".join(named)))
    for one in _CAPITAL.findall(content):
        if not set(kept_tokens(one)) <= told | free | named_there:
            return f"nobody said {one}"
    if len(words & told) < LEAST_SHARE * len(words):
        return "mostly words that nobody said"
    own = words.isdisjoint(kept_tokens(by)) and not answers(by)
    return "it has no word of the message that it quotes" if own else None


def answers(text: str) -> int:
    """1 where a message says yes, -1 where it says no: then what it says stands in the message before it; else 0."""
    return 1 if _YES.match(text) is not None else -1 if _NO.match(text) is not None else 0


def shares_words(known: str, told: str, name: str | None = None, besides: str = "") -> bool:
    """Whether a text shares a word with what is known, names and function words aside, that `besides` has not."""
    free = _ABOUT | set(kept_tokens(name or "")) | set(kept_tokens(besides))
    return not (set(kept_tokens(known)) & set(kept_tokens(told))) <= free


def said_of(known: str, told: str, name: str | None = None) -> float:
    """Share of the words of what is known, names aside, that a text has; in [0, 1]."""
    words = set(kept_tokens(known)) - _ABOUT - set(kept_tokens(name or ""))
    return len(words & set(kept_tokens(told))) / max(1, len(words))


NEAR_DAYS = 400
"""Days around that of a turn within which a date may be what "last year" or "next month" means."""
_MONTH = rf"(?P<month>{MONTH})\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DATES = tuple(
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_YEAR}-(?P<m>\d\d)-(?P<day>\d\d)(?!\d)",
        rf"(?<!\d){_YEAR}年(?P<m>\d{{1,2}})月(?:(?P<day>\d{{1,2}})[日号])?",
        r"(?<!\d)(?P<m>\d{1,2})月(?P<day>\d{1,2})[日号]",
        rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? {_YEAR})?\b",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? {_YEAR})?\b",
        rf"\b{_MONTH},? {_YEAR}\b",
    )
)
_WRITTEN = regex(r"\d+(?:[.,:]\d+)*")
_IN_WORDS = regex(rf"(?<![a-z\d.,:]){NUMBER_ENGLISH}(?![a-z\d])")
_IN_HAN = regex(NUMBER_CHINESE)


def unsaid_number(content: str, heard: str, day: str | None) -> str | None:
    """A number of the content that nobody said, as it stands there; None if there is none.

    `day`, YYYY-MM-DD, is that on which the turn was said: dates near it, and years that follow from it, need not be said.
    """
    told, said = without_dates(content, day).casefold(), _folded(heard)
    spoken = date.fromisoformat(day) if day else None
    written, values = set(_WRITTEN.findall(said)), set(_values(said))
    if spoken is not None:
        values |= {float(spoken.year + off) for off in (-1, 0, 1)}
        values |= {float(spoken.year - value) for value in values if value < 100 and value.is_integer()}
    for number in _WRITTEN.findall(told):
        if number not in written and _value(number) not in values:
            return str(number)
    for pattern in (_IN_WORDS, _IN_HAN):
        for found in pattern.finditer(told):
            value = value_of(found[0])
            if value is not None and value > 1 and value not in values and found[0] not in said:
                return found[0]
    return None


def without_dates(content: str, day: str | None) -> str:
    """A content without the dates that are near the day, YYYY-MM-DD, on which it was said."""
    told = unicodedata.normalize("NFKC", content)
    if day is None:
        return told
    spoken = date.fromisoformat(day)

    def kept(found: re.Match[str]) -> str:
        parts = found.groupdict()
        month = int(parts["m"]) if parts.get("m") else _month(parts.get("month"))
        try:
            named = date(int(parts.get("year") or spoken.year), month, int(parts.get("day") or 1))
        except ValueError:
            return str(found[0])
        return " " if abs((named - spoken).days) <= NEAR_DAYS else str(found[0])

    for pattern in _DATES:
        told = pattern.sub(kept, told)
    return told


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _value(written: str) -> float | None:
    digits = written.replace(",", "")
    return None if digits.count(".") > 1 or ":" in digits else float(digits)


def _values(said: str) -> Iterator[float]:
    """What is said in digits or in words, as numbers."""
    for number in _WRITTEN.findall(said):
        value = _value(number)
        if value is not None:
            yield value
    for pattern in (_IN_WORDS, _IN_HAN):
        for found in pattern.finditer(said):
            value = value_of(found[0])
            if value is not None:
                yield value


def _month(name: str | None) -> int:
    return month_number(name.lower()) if name else 0


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


JUST_BEFORE = 10
"""Turns of one speaker in one session, and within a day, among which a correction finds what it corrects."""
MOST_RETRACTED = 3
"""Memories that one denial may take back."""
POSSESSING = frozenset({"has", "owns", "adopted", "got", "有", "养", "养了", "领养", "领养了"})
"""Predicates that one denial of having takes back."""
TAKES_BACK = "the speaker takes it back"
CORRECTS = "the speaker corrects it"
_NAMED = regex(r"\s(?:named|called|with|who|that|which|from|in|for|and)\b.*$|,.*$|（.*$|叫.*$|名叫.*$", re.IGNORECASE)
_COUNTED = regex("^[一二两三四五六七八九十几\\d]*[只条个匹头位名]?|^(?:an?|the|one|two|three|four|five|\\d+) ")


def judge(
    turns: Sequence[ReadTurn],
    view: OwnerView,
    now: int,  # noqa: ARG001 - plans have one shape
    check: Check = unchecked,
    alike: Alike = no_model,
) -> list[Verdict]:
    """A verdict on every statement, in the order in which they were said (an export may tell the newest first). Pure."""
    judging = CorrectingRun(view, check, alike)
    in_order = sorted(turns, key=lambda one: (one.said_at, one.seq))
    before: dict[tuple[str | None, str | None], deque[ReadTurn]] = defaultdict(lambda: deque(maxlen=JUST_BEFORE))
    for one in counted(in_order, check, len(in_order), every=1):
        for question in one.questions:
            judging.ask(one, question)
        own = before[one.session, one.turn.speaker]
        for said in counted(_in_order(one), check, len(one.statements) + len(one.taken), every=1):
            if isinstance(said, ExtractedStatement):
                judging.judge(Claim(one, said))
            elif isinstance(said, Denial):
                judging.deny(one, said)
            elif isinstance(said, HeldTo):
                judging.hold_to(one, said, [one, *reversed(own)])
            else:
                judging.correct(one, said, [one, *reversed(own)])
        own.append(one)
    return judging.verdicts


def _in_order(source: ReadTurn) -> list[ExtractedStatement | Taken]:
    """All that a turn says, in the order of its words."""
    parts = [*source.statements, *source.taken]
    return sorted(parts, key=lambda part: part.span if isinstance(part, ExtractedStatement) else part.said.span)


class CorrectingRun(JudgeRun):
    """A run that also takes back and corrects."""

    def deny(self, source: ReadTurn, denial: Denial) -> None:
        """A denial: what it denies for certain is negated, by itself if the speaker says that it was wrong."""
        claim, turn = Claim(source, denial.said), source.turn
        if not denial.said.asserted:
            return
        denied = self._of_denied(denial, turn.speaker)
        known = [one for one in denied if not one.negated and not one.comes_from(turn.turn_id)]
        gone = [one for one in known if not self._is_later(one, claim)][:MOST_RETRACTED]
        if gone and denial.taken_back:
            self._retract(claim, gone)
        elif gone:
            self._negate(claim, gone, "the speaker says the reverse")
        elif known:
            self._record("SKIP", claim, known[0].id, "it was said later")
        elif denial.lasting:
            self.judge(claim)
        elif denial.taken_back and not self._flag_contradicted(claim, self._shelf.near(claim.content, turn.speaker)):
            self._record("SKIP", claim, None, "nothing is known that it takes back")

    def _retract(self, claim: Claim, gone: Iterable[KnownMemory]) -> None:
        for old in gone:
            data = MemoryNegated(memory_id=old.id, reason=TAKES_BACK, turn_id=claim.turn.turn_id)
            old.turns.append(claim.turn.turn_id)
            self._shelf.negate(old)
            decision = self._decision("negate", (old.id,), claim, TAKES_BACK, data)
            self._record("NEGATE", claim, None, TAKES_BACK, [decision], old.id)

    def _of_denied(self, denial: Denial, speaker: str | None) -> Iterator[KnownMemory]:
        """The known memories that say for certain what is denied, the most alike first."""
        told = denial.said.content if denial.affirmed is None else denial.affirmed.content
        triple = None if denial.affirmed is None else denial.affirmed.triple
        found = [known for _, known in self._shelf.near(told, speaker)]
        if triple is not None:
            found += [known for known, _ in self._shelf.in_slot(triple, speaker)]
        for known in _once(found):
            if triple is not None and any(_says(fact, triple) for fact in known.facts):
                yield known
            elif known.polarity > 0:
                relation = compare(core(denial.said.content), core(known.content))
                if relation.kind == "contradicts" and relation.sure:
                    yield known

    def correct(self, source: ReadTurn, one: Corrected, before: Sequence[ReadTurn]) -> None:
        """One value for another in what was said just before. `before`: this turn and earlier ones of its speaker, newest first."""
        claim = Claim(source, one.said)
        for turn in _within_a_day(before, source):
            made = self._shelf.of_turn(turn.turn.turn_id)
            meant = [
                (known, old) for known in made if not known.negated and (old := _value_in(one, core(known.content)))
            ]
            if len(meant) == 1:
                return self._negate(Claim(source, _with_value(one, *meant[0])), [meant[0][0]], CORRECTS)
            if meant:
                return self._flag(claim, meant[0][0], "one of several is corrected")
            sentences = [] if turn is source else _sentences_with(one, turn.turn.text)
            if len(sentences) == 1:
                return self._correct_words(source, one, turn.turn.turn_id, *sentences[0])
            if sentences:
                break
        guessed = _sentences_with(one, source.turn.asked, by_assistant=True)
        if len(guessed) == 1:
            return self._correct_words(source, one, "", *guessed[0])
        return self._record("SKIP", claim, None, "nothing is known that it corrects")

    def hold_to(self, source: ReadTurn, one: HeldTo, before: Sequence[ReadTurn]) -> None:
        """What the speaker took back just before, and likes after all: the one thing that it can be."""
        claim = Claim(source, one.said)
        for turn in _within_a_day(before, source):
            taken = self._taken_back_in(turn.turn.turn_id, source.turn.speaker)
            if len(taken) == 1:
                return self._held(claim, taken[0], 1.0)
            if taken:
                break
        return self._record("SKIP", claim, None, "nothing is known that was taken back")

    def _taken_back_in(self, turn_id: str, speaker: str | None) -> list[KnownMemory]:
        """The memories of which a turn said the reverse."""
        denials = [known for known in self._shelf.of_turn(turn_id) if any(fact[3] for fact in known.facts)]
        alike = [known for denial in denials for _, known in self._shelf.near(denial.content, speaker) if known.negated]
        reverse = {(*fact[:3], False) for denial in denials for fact in denial.facts}
        return [known for known in _once(alike) if reverse.intersection(known.facts)]

    def _correct_words(self, source: ReadTurn, one: Corrected, turn_id: str, sentence: str, old: str) -> None:
        """What no memory says: the sentence as it was meant becomes one, which corrects the turn."""
        han, turn = holds_han(sentence), source.turn
        says = "更正：" if han else " corrected: "
        content = turn.dated(f"{turn.called(han=han)}{says}{_put(sentence, old, one.new)}", han=han)
        if self._view.get(turn_id) is not None:
            self._corrects[content] = turn_id
        return self.judge(Claim(source, one.said._replace(content=content)))


def _within_a_day(before: Sequence[ReadTurn], source: ReadTurn) -> Iterator[ReadTurn]:
    """The turns of the last day, the newest first."""
    return takewhile(lambda turn: source.said_at - DAY <= turn.said_at <= source.said_at, before)


def _once(found: Iterable[KnownMemory]) -> list[KnownMemory]:
    return list({known.id: known for known in found}.values())


def _says(fact: tuple[str, str, str, bool], triple: StatedTriple) -> bool:
    """Whether a triple says what another does, or more closely: "has a dog named Rex" says "has a dog"."""
    subject, predicate, thing, negation = fact
    alike = predicate == triple.predicate or {predicate, triple.predicate} <= POSSESSING
    return subject == triple.subject and alike and negation == triple.negation and _is_a(thing, triple.object)


def _is_a(thing: str, other: str) -> bool:
    """Whether a thing is the other by its words: its head is the other's, and it has all of the other's words."""
    named, plain = (_COUNTED.sub("", _NAMED.sub("", one.strip())).strip().casefold() for one in (thing, other))
    if not named or not plain:
        return False
    if holds_han(plain):
        return named.endswith(plain)
    mine, others = tokens(named), tokens(plain)
    return bool(mine) and bool(others) and mine[-1] == others[-1] and set(others) <= set(mine)


def _value_in(one: Corrected, text: str) -> str | None:
    """The value that is corrected, as it stands in a text exactly once; None where it does not, or where another may be meant."""
    if one.old is not None:
        places = _places(one.old, text)
        return text[slice(*places[0])] if len(places) == 1 else None
    found = values_of(one.sort or "", text)
    return found[0] if len(found) == 1 and found[0].casefold() != one.new.casefold() else None


def _places(value: str, text: str) -> list[tuple[int, int]]:
    """Where a value stands in a text by itself."""
    edge = ("", "") if holds_han(value) else (rf"(?<![^\W{HAN}])", rf"(?![^\W{HAN}])")
    return [found.span() for found in re.finditer(f"{edge[0]}{re.escape(value)}{edge[1]}", text, re.IGNORECASE)]


def _put(text: str, old: str, new: str) -> str:
    """The text with the new value in the place of the old one."""
    places = _places(old, text)
    return text if not places else f"{text[: places[0][0]]}{new}{text[places[0][1] :]}"


def _sentences_with(one: Corrected, text: str, *, by_assistant: bool = False) -> list[tuple[str, str]]:
    """The sentences of a turn that say the old value, each with that value; none of a long turn.

    Questions of a person do not count. Guesses of the assistant about the user do ("You live in London?").
    """
    if len(text) > 2_000:
        return []
    said = (found[0].strip() for found in re.finditer(r"[^.!?。！？\n]+(?:\.(?=\w)[^.!?。！？\n]+)*[.!?。！？]*", text))
    out = _NO_GUESS.search if by_assistant else regex("[?？]$").search
    told = [sentence for sentence in said if len(sentence) <= 200 and out(sentence) is None]
    plain = [_of_user(sentence, one.old) if by_assistant else sentence.rstrip(".!。！ ") for sentence in told]
    return [(sentence, old) for sentence in plain if (old := _value_in(one, sentence))]


_NO_GUESS = regex(
    r"^(?:do|are) you (?:want|need|mean|know|think|remember|sure|ok|okay|ready|have a (?:minute|moment|second|question))\b"
    r"|^(?!(?:do|are) you\b|(?:is|are) your\b)(?:did|do|does|is|are|was|were|has|have|can|could|will|would|should|shall|what|which"
    r"|who|where|when|how)\b|[\"“”「」]|^(?!.*[你您]).*吗[?？]$",
    re.IGNORECASE,
)
"""A question that guesses nothing of the user, or somebody's words: "Did Anna write to you?"."""
_GUESSES = regex(
    r"^(?:(?:so|lovely|great|nice|ah|oh|noted|okay|ok|got it|understood|and|right"
    r"|I(?:'ll| will)? (?:take it|assume|suppose|imagine|guess|understand|note|remember))\b[,:. ]*"
    r"(?:that )?)+|,? (?:I (?:take it|assume|suppose|imagine|guess)|right|correct|then|noted|is that right|don't you)$"
    "|^(?:(?:好的?|明白了?|收到|那么?|所以|了解|记[下住]了)[，, ]*)+|(?:[，,]?(?:对吗|对吧|是吗|是吧|没错吧)|[吗吧呢])$",
    re.IGNORECASE,
)
_TO_SPEAKER = (
    (regex(r"^do you\b", re.IGNORECASE), "I"), (regex(r"^are you\b", re.IGNORECASE), "I'm"),
    (regex(r"\byou're\b|\byou are\b", re.IGNORECASE), "I'm"), (regex(r"\byour\b"), "my"), (regex(r"\bYour\b"), "My"),
    (regex(r"\byou\b", re.IGNORECASE), "I"), (regex("您|你"), "用户"),
)  # fmt: skip


def _of_user(sentence: str, value: str | None) -> str:
    """A sentence of the assistant to the user, turned into a statement about the user; "is your" with its verb before the value."""
    said = _GUESSES.sub("", _GUESSES.sub("", sentence.rstrip(".!?。！？ ")))
    asked = rf"(is|are) (your .+?) ((?:(?:on|in|at|from|called|an?|the) ){{0,2}}{re.escape(value or '')})"
    if (inverted := re.match(asked, said, re.IGNORECASE)) is not None:
        said = f"{inverted[2]} {inverted[1].lower()} {inverted[3]}{said[inverted.end() :]}"
    for pattern, into in _TO_SPEAKER:
        said = pattern.sub(into, said)
    said = re.sub("^my ", "My ", said)
    return third_person(said, "User") if re.match(r"(?:I|My)\b", said) else in_third(said)


def _with_value(one: Corrected, known: KnownMemory, old: str) -> ExtractedStatement:
    """What a memory says, with the new value in the place of the old one."""
    triple = None
    if len(known.facts) == 1:
        subject, predicate, thing, negation = known.facts[0]
        triple = StatedTriple(subject, predicate, _put(thing, old, one.new), negation)
    content, told = _put(known.content, old, one.new), one.said
    return told._replace(
        content=content,
        category=cast("Category", known.category),
        kind=known.kind,
        polarity=known.polarity,
        confidence=0.85,
        triple=triple,
    )
