"""What a question asks for: its parts, what it compares, kinds of things; and traits of a turn of talk, by its words. Pure.

English and Chinese. Nothing is parsed. Every pattern takes time proportional to the text, and of a
question that is taken apart only the last `LONGEST` characters are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import cache
from typing import Literal, NamedTuple

from engramlog_server.projections.language.extraction.instructions import asks_for_good
from engramlog_server.projections.language.keywords import says_something, sentences, without_question_words
from engramlog_server.projections.language.lexicon import simplified
from engramlog_server.projections.language.patterns import holds_han, regex
from engramlog_server.projections.language.similar import wording
from engramlog_server.projections.language.text import stem, stop_words, tokens
from engramlog_server.projections.language.times.calendar import MONTHS, WEEKDAY

_ENGLISH = """
mention mentioned tell told conversation conversations chat chats discuss discussed discussion discussions talk talked
remember recall brought up walk through throughout across during earlier previous previously ever order sessions
summary summarize summarise overview comprehensive detailed brief list item items aspects different only give
"""
_CHINESE = "提到 提过 聊过 聊到 说过 讨论 告诉 记得 对话 总结 概括 列出 列举"


@cache
def framing_terms() -> frozenset[str]:
    """Their terms, as a text is searched by them; of a Chinese word its pair of characters."""
    return frozenset(tokens(_ENGLISH)) | frozenset(_CHINESE.split())


READ = 4_000
"""Characters of a text that are read."""
_STOPS = regex(r"([.!?。！？\n])")
_SIGNS = (
    r"\bwh(?:at|ich)\b|什么(?!时[候间]|地方)|哪(?![里儿天年月日]|一[天年月日])",
    r"\bwhere\b|哪[里儿]|什么地方",
    r"\bwhen\b|什么时[候间]|何时|哪一?[天年月日]|(?<![这那十好])几[点号月]",
    r"\bwhy\b|为什么|为何|为啥",
    r"\bwho(?:se|m)?\b|谁",
    r"\bhow\b(?! (?:long|many|much|often)\b)|怎[么样]|如何",
    r"\bhow long\b|多久(?!一次)|多长|(?<![前这那过十好])几[天年周]",
    r"\bhow many\b|多少(?!钱)|几(?=[个位只条本件家种岁])",
    r"\bhow much\b|多少钱|几块",
    r"\bhow often\b|几次|多少次|多久一次",
)
_KINDS = tuple(regex(sign) for sign in _SIGNS)
MOST_KINDS = 3
"""A turn that asks for more kinds asks for none: whoever lists them all would lift his neighbour for every question."""
ASKS_NOTHING = 0


def kinds_of(question: str) -> int:
    """The kinds of things that a case-folded question asks for, as bits; `ASKS_NOTHING` where no word tells one."""
    read = question[:READ]
    if not read.isascii():
        read = simplified(read).replace("为什么", "为何")
    return sum(1 << bit for bit, sign in enumerate(_KINDS) if sign.search(read))


def kinds_asked(turn: str) -> int:
    """The same of those sentences of a turn that end in a question mark; `ASKS_NOTHING` of more than `MOST_KINDS`."""
    pieces = _STOPS.split(turn[:READ])
    asking = [said for said, stop in zip(pieces[::2], pieces[1::2], strict=False) if stop in "?？"]
    kinds = kinds_of("\n".join(asking).casefold()) if asking else ASKS_NOTHING
    return kinds if kinds.bit_count() <= MOST_KINDS else ASKS_NOTHING


MOST_COMPARED = 4
_NO_NAME = (
    "Did|Does|Do|Is|Are|Was|Were|Has|Have|Had|Can|Could|Will|Would|What|When|Where|Who|Which|Why|How|And|The|My|I"
)
_NAME = rf"\b(?!(?:{_NO_NAME})\b)[A-Z][\w'’-]*(?:\.? (?:(?:of|de|van) )?[A-Z][\w'’-]*\.?){{0,3}}"
_ECHO = regex(
    r"\b(?P<word>only|just|more|less|fewer|better|worse|over|again|round) and (?P=word)\b(?!['’])"
    r"|\b(?P<other>\w+) and (?P=other)(?=\s*(?:[,.:;?!]|$)|\s+(?:and|or)\b)",
    2,
)
"""*ONLY and ONLY five*, *round and round*: said for weight, and no two things. *Rome and Rome NY*, *Sam and Sam's cat* are."""
_CUE = regex(
    r"\b(?:first|last|earlier|later|sooner|more|less|fewer|older|younger|longer|shorter|bigger|smaller|better|worse|cheaper"
    r"|before|after|between|compared?|comparison|differen\w+|differ|versus|vs|both|either|same|similar|common|each|together)\b",
    2,
)
_CUE_WORDS = regex(
    r"\b(?:came|come|happen(?:ed|s)?|first|last|earlier|later|sooner|before|after|between|compared?|comparison|both|either|same"
    r"|difference|differ|versus|vs|each)\b",
    2,
)
_AROUND = regex(
    r"^(?P<head>.*?)\b(?:(?P<between>between)|(?P<compare>compar(?:e|ing))|both|either)\s+(?P<a>[^,.?!;]{2,160}?)\s+"
    r"(?:(?(between)and(?: between)?|(?(compare)(?:and|with|to|versus|vs\.?)|(?:and|or))))\s+(?P<b>[^,.?!;]{2,160})(?P<tail>.*)$",
    2,
)
_LISTED = regex(
    r"^(?P<head>.*[,:])\s*(?P<a>[^,:.?!;]{2,120}?),?\s+(?P<joined>or|and|versus|vs\.?)\s+(?P<b>[^,:.?!;]{2,120})(?P<tail>[^\w]*)$",
    2,
)
_NAMED = regex(rf"(?P<a>{_NAME}(?:, {_NAME}){{0,3}}),? (?:and|or|and/or|versus|vs\.?|than) (?P<b>{_NAME})(?:'s|’s)?")
_THAN = regex(
    r"^(?P<a>.{2,200}?)\s+(?:(?:\w+er|more|less|better|worse)\s+(?:\w+ )?than|before|after)\s+"
    r"(?!I\b|we\b|he\b|she\b|they\b|that\b|this\b)"
    r"(?P<b>[^,.?!;]{4,120})",
    2,
)
_THING_ENGLISH = regex(r"\b(?:the|my|our|an?|his|her|their|your)\b.*$", 2)
_NOTHING_ASKED = regex(r"(?:(?:which|what|who|is|was|are|were|the|of|one)\b[\s,:]*)+", 2)
_SPLIT = regex(r",\s*")
_THING = "[^，,。：:；;？?！!、]"
_HAN_PAIR = regex(
    rf"(?:^|[，,：:])(?:比较|对比)(?:一下)?(?P<e>{_THING}{{2,40}}?)(?:和|跟|与)(?P<f>{_THING}{{2,40}}?)(?=的|[，,。？?]|$)"
    rf"|(?:^|[，,：:])(?P<a>{_THING}{{2,40}}?)(?<![的地得])(?:(?:和(?![平谐气睦])|跟|与|、|同(?![学事时样]))(?P<b>{_THING}{{2,40}}?)"
    r"(?P<tail>哪[个一件家种]|谁|相比|比较|之间|(?<![成首京古故])都|各自|分别|有什么|的区别|的不同|更|先|早|晚|一样)"
    rf"|(?:还是|或者)(?![不没很会要想觉感])(?P<c>{_THING}{{2,40}}?)(?=哪[个一件家种]|谁|更|[，,？?]|$)"
    rf"|比(?![赛较如方])(?P<d>{_THING}{{2,40}}?)(?=更|早|晚|先|[吗？?]))"
)
_HAN_ALSO = regex("、|和|跟|与")
_HAN_CUE = regex("都|各自|分别|相比|比较|之间|更|先|早|晚|的区别|的不同|一样")
_HAN_FRAME = regex(
    "^(?:请问|请|帮我|告诉我|比较(?:一下)?|对比(?:一下)?|我想知道|你?(?:还)?记得)+|(?:的?是|先|更早|更晚|更)$"
)
_PRONOUN = regex("(?:^|[，,])?(?:但|如果|我|你|他|她|它|们)*$")


def compared(text: str) -> list[str]:
    """A sentence once for each thing that it compares, four at most; nothing where it compares none."""
    return _of_han(text) if holds_han(text) else _of_english(text)


def _of_english(text: str) -> list[str]:
    text = _ECHO.sub(lambda echo: echo["word"] or echo["other"], text)
    if _CUE.search(text):
        if (match := _AROUND.search(text)) is not None and match["a"].casefold() not in {"before", "more"}:
            things = _SPLIT.split(match["a"])
            joined = bool(match["between"] or match["compare"])
            parts = [_each(match["head"], one, match["tail"], joined=joined) for one in (*things, match["b"])]
            return parts[:MOST_COMPARED]
        if (match := _THAN.search(text)) is not None and "," not in match["a"]:
            return [match["a"], f"{_frame(match['a'])} {match['b']}"]
    match = _LISTED.search(text)
    if match is not None and (_CUE.search(text) or match["joined"].casefold() != "and"):
        earlier = [one for one in _SPLIT.split(match["head"].rstrip(",:"))[1:] if len(one) < 120]
        head = _SPLIT.split(match["head"])[0]
        things = [*earlier, match["a"], match["b"]]
        return [_each(head, one, "", joined=True) for one in things][:MOST_COMPARED]
    match = _NAMED.search(text)
    if match is not None and match.start() > 0 and match["a"].casefold() != match["b"].casefold():
        head, tail = text[: match.start()], text[match.end() :]
        return [_each(head, one, tail) for one in (*_SPLIT.split(match["a"]), match["b"])][:MOST_COMPARED]
    return []


def _frame(left: str) -> str:
    """What is asked of the thing that a text ends with, or that its verb follows."""
    frame = _THING_ENGLISH.sub("", left)
    return frame if says_something(frame) else left.rsplit(maxsplit=1)[-1]


def _each(head: str, thing: str, tail: str, *, joined: bool = False) -> str:
    """What is asked of one thing: the thing alone where only *which* is left of it, and behind a colon where a word `joined` it."""
    asked = " ".join(_CUE_WORDS.sub(" ", head).split()).strip(" ,:")
    rest = _CUE_WORDS.sub(" ", tail)
    if _NOTHING_ASKED.fullmatch(asked) and tokens(f"{asked} {thing}") == tokens(thing):
        return " ".join(f"{thing} {rest}".split()).rstrip(" ?")
    if asked and joined:
        asked += ":"
    return " ".join(f"{asked} {thing} {rest}".split()).replace(" ?", "?")


def _of_han(text: str) -> list[str]:
    match = _HAN_PAIR.search(text)
    if match is None:
        return []
    second = match["b"] or match["c"] or match["d"] or match["f"]
    things = [_HAN_FRAME.sub("", one) for one in (*_HAN_ALSO.split(match["a"] or match["e"]), second)]
    if any(len(one) < 2 or _PRONOUN.fullmatch(one) for one in things):
        return []
    tail = f"{match['tail'] or ''}{text[match.end() :]}"
    asked = _HAN_CUE.sub("", without_question_words(tail))
    asked = asked.replace(" ？", "？").replace(" ?", "?") if any(letter.isalnum() for letter in asked) else ""
    return [f"{one}{asked}" for one in things][:MOST_COMPARED]


LONGEST = 1_000
"""Characters of a question that are read: of a longer one its last, where people ask."""
MOST_PARTS = 5
Way = Literal["one", "several", "compared"]

_ASKING = regex(
    r"[?？][\"'”’」』)）\s]*$|^\s*(?:also[, ]+|and[, ]+|please[, ]+)*(?:what|when|where|who|whom|whose|which|why|how|did|does|do"
    r"|is|are|was|were|has|have|had|can|could|will|would|tell|list|name|give|describe|remind|summari[sz]e"
    r"|compare|show)\b|什么|哪|谁|怎么|怎样|如何|为什么|几[个次种岁点]|多少|多久|是不是|有没有|吗|列出|列举|告诉|说说|讲讲|总结|比较",
    2,
)
_AND_ALSO = regex(
    r"[,;]?\s+(?:and|but|or)\s+also[, ]\s*|[,;]\s*also[, ]\s*|[,;]?\s+as\s+well\s+as\s+|[,;]?\s+and\s+besides[, ]\s*"
    r"|[,;]?\s+and\s+(?=(?:what|when|where|who|whom|whose|which|why|how|did|does|do|is|are|was|were|has|have|had|can|could"
    r"|will|would)\b)|[，,；;、\s]\s*(?:还有|并且|而且|同时|顺便(?:问一?下|说一?下)?)[，,：:]?|[，,；;]?(?:另外|此外|以及)[，,：:]?",
    2,
)
_NUMBER = r"(?:\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|a dozen|a few)"
_SO_MANY = regex(
    r"^\s*(?:please )?(?:mention|list|name|give|tell|show|include)(?: me| us)? (?:only|just|exactly|no more than|at most|up to)\b"
    rf"(?: (?:and|only|just|exactly|the|your|top|first|last|best|most|at)){{0,4}} {_NUMBER}(?: (?!i\b)\w+){{0,2}}\W*$"
    r"|^请?(?:只|仅|最多|正好)[能要需]?[列说提给讲写][出到]?.{0,3}[\d一二两三四五六七八九十几].{0,3}[项个条点件][^\w]*$",
    2,
)
"""A sentence that says how many things to name, and asks for none itself."""
_MANY = regex(
    r"\bhow (?:many|often)\b|\b(?:list|enumerate|name)\b(?= (?:all|every|the|my|his|her|their|each|some))"
    r"|\ball (?:the|of|my|his|her|their)\b"
    r"|\bevery(?: time| one|thing)\b|\bin (?:\w+ )?order\b|\bthe order in which\b|\bsummar|\boverview\b|\bchronolog|\btimeline\b"
    r"|\b(?:what|which) (?:kinds?|types?|sorts?) of\b|\bdifferent\b"
    r"|\b(?:what|which) (?:\w+ ){0,2}\w{2,}s (?:have|has|had|did|do|does|are|were|is|was)\b"
    r"|有(?:过)?几|[几多][少]?[次个种件家本]|列出|列举|所有|全部|哪些|都(?:有|去|做|买|看|吃|学)[过了]?(?:什么|哪|谁)|按.{0,4}(?:时间|顺序|先后)|依次|先后|总结|概括|每[次个]|分别",
    2,
)
_ORDERED = regex(
    r"\bin (?:\w+ )?order\b|\bthe order in which\b|\bchronolog|\btimeline\b|\bover time\b"
    r"|按.{0,4}(?:时间|顺序|先后)|依次|先后|顺序",
    2,
)


class AskedParts(NamedTuple):
    """How a question is taken apart."""

    way: Way
    parts: tuple[str, ...]
    """What is asked by itself, in the question's order, two to five; empty where the way is `one`."""
    many: bool
    """Whether several things answer it together: how many, list all, what kinds of."""
    ordered: bool
    """Whether they are asked for in the order of time."""


def asked_parts(text: str) -> AskedParts:
    """The parts of a question: of several that it asks one each, of what it compares one for each thing."""
    told = text[-LONGEST:].strip()
    many, ordered = _MANY.search(told) is not None, _ORDERED.search(told) is not None
    said = [one for one in sentences(told) if not _SO_MANY.search(one)]
    asking = [one for one in said if _ASKING.search(one)]
    if len(asking) == 1 and (things := _kept(compared(asking[0]))):
        return AskedParts("compared", things, many, ordered)
    if 2 * len(asking) >= len(said) and (
        parts := _kept(part for one in asking for part in _AND_ALSO.split(one) if part)
    ):
        return AskedParts("several", parts, many, ordered)
    return AskedParts("one", (), many, ordered)


def asks(text: str) -> bool:
    """Whether a turn asks for something, by a mark or by its words."""
    return any(_ASKING.search(one) for one in sentences(text[-LONGEST:]))


SAME_FORM = 0.6
"""Share of the words of two questions that stand in both in the same order, from which one has the form of the other."""
_ASKED_WITH = regex(
    "几点|几时|什么时[候间]|何时|多久|多少|多长|什么|怎么样?|如何|哪[里儿个些]?|可以|能不能|是不是|应该|需要|要|该|能|得|会|是|请|我|你|咱|们|的|了|呢|吗|吧|在|把|给|去|来|有|几",
    2,
)
"""Words by which a Chinese question asks: they name nothing."""
_ANYBODY = regex(
    r"\b(how (?:do|can|could|should|would)|(?<!how )(?:can|could|should|would|must)) (?:i|you|we|one)\b", 2
)
"""Anybody who does it: "How do you descale it?" and "How do I ...?" ask the same."""
_THEIRS = regex(r"\b(?:my|your|our|one's)\b", 2)


def asks_another(a: str, b: str) -> bool:
    """Whether two questions have one form and name another thing in it: "How much iron is in tofu?", "How much salt ...?".

    False of any two whose words differ more: then only their meaning tells.
    """
    said_a, said_b = _asked_words(a), _asked_words(b)
    found = SequenceMatcher(None, said_a, said_b, autojunk=False).get_matching_blocks()
    if not said_a or not said_b or 2 * sum(one.size for one in found) < SAME_FORM * (len(said_a) + len(said_b)):
        return False
    kept_a = {place for one in found for place in range(one.a, one.a + one.size)}
    kept_b = {place for one in found for place in range(one.b, one.b + one.size)}
    only_a, only_b = (
        _things(word for place, word in enumerate(said) if place not in kept)
        for said, kept in ((said_a, kept_a), (said_b, kept_b))
    )
    return bool(only_a - only_b) and bool(only_b - only_a)


def _asked_words(question: str) -> list[str]:
    asked, times = _ANYBODY.subn(r"\1", question)
    question = _THEIRS.sub(" ", asked) if times else question
    return [stem(word) if word.isascii() else word for word in wording(question) if word != "?"]


def _things(words: Iterable[str]) -> set[str]:
    """What words name: of English ones those that are no stop words, of Chinese ones what is left without words that ask."""
    told = list(words)
    english = {word for word in told if word.isascii() and word not in stop_words()}
    return english | set(_ASKED_WITH.sub("", "".join(word for word in told if not word.isascii())))


def _kept(parts: Iterable[str]) -> tuple[str, ...]:
    """Those that say something, each once, five at most; none where that leaves no two."""
    told = (" ".join(part.split()).strip(" ,;，；、") for part in parts)
    found = dict.fromkeys(one for one in told if says_something(one))
    return tuple(found)[:MOST_PARTS] if len(found) > 1 else ()


ENDS_ASKING, HAS_QUESTION, HAS_TIME, HAS_NUMBER, SELF, STANDING, PREFERS, HAS_DAY = (1 << bit for bit in range(8))
"""Traits of a turn: it ends in a question, holds one, holds a word of time, a number, speaks of I; asks for something for good,
says in its first 4,000 characters what its speaker likes better. The last: it names a day or a month."""

_AFTER_QUESTION = regex("[\\s\"'”’」』)）!！~～\u2600-\u27bf\U0001f000-\U0001faff]")
_DATES = (
    rf"(?:{WEEKDAY})s?|{'|'.join(name for name in MONTHS if name != 'may')}|in may|may \d{{1,2}}|\d{{1,2}} may"
    r"|\d+(?:st|nd|rd|th)|yesterday|today|tonight|tomorrow"
)
_DATES_HAN = r"[今昨明前后]天|[\d一二三四五六七八九十][月日号]|星期|礼拜|周[一二三四五六日末]"
_TIME = regex(
    rf"\b(?:{_DATES}|ago|last|next|week|weekend|weekday|month|year|\d{{4}}"
    r"|recently|since|morning|afternoon|evening|night|noon|midnight|every day|daily|\d{1,2}:\d\d|\d{1,2} ?[ap]m"
    r"|o['’]clock|at (?:\d{1,2}|five|six|seven|eight|nine|ten|eleven|twelve))\b"
    rf"|{_DATES_HAN}|[去今明前]年|[上下]个?[周月]|\d年|[\d一二两三四五六七八九十]点(?!儿|[心评赞餐菜单])"
    r"|[早晚]上|[上中下]午|每[天周月年]"
)
_DAY = regex(rf"\b(?:{_DATES})\b|{_DATES_HAN}|初[一二三四五六七八九十]|春节|除夕|清明|端午|中秋|国庆|元旦")
_A_NUMBER = regex(
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
_CLAUSES = regex(r"[，。！？,!?；;\s]+")
_SENTENCE = regex(r"(?<=[。！？!?；;\n])|(?<=[.])\s")
_WHEN = regex(
    r"\bwhen\b|\bwhat (?:day|date|month|year|time)\b|什么时[候间]|何时|哪一?[天年月日]|日期|(?<![这那十好])几[点号月]"
    r"|(?:星期|周|礼拜)几"
)
_WHICH_DAY = regex(r"\b(?:what|which) (?:day|date)\b|哪一?天|日期|(?<![这那十好])几号|(?:星期|周|礼拜)几")
_ASKS_A_NUMBER = regex(
    r"\bhow (?:many|much|long|old|often)\b|\bwhat (?:number|score|percentage|amount)\b|多少|几[个次岁]|多久"
)
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
    if wanted & (HAS_TIME | HAS_NUMBER | SELF | HAS_DAY):
        folded = text.casefold()
        for trait, signs in _TRAIT_SIGNS:
            if wanted & trait and signs.search(folded):
                found |= trait
    return found


_TRAIT_SIGNS = ((HAS_TIME, _TIME), (HAS_NUMBER, _A_NUMBER), (SELF, _SELF), (HAS_DAY, _DAY))


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
    for part in _CLAUSES.split(rest):
        if match := _PERSON.search(part):
            subject = match[0]
    return subject in {"你", "您"}


def asks_when(question: str) -> bool:
    """Whether a case-folded question asks for a time."""
    return _WHEN.search(question) is not None


def asks_which_day(question: str) -> bool:
    """Whether a case-folded question asks for a day: neither a year nor an hour answers it."""
    return _WHICH_DAY.search(question) is not None


def asks_many(question: str) -> bool:
    """Whether a case-folded question asks for a number."""
    return _ASKS_A_NUMBER.search(question) is not None


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


GENERAL_KNOWLEDGE = regex(
    r"\b(?:translate|synonyms?|antonyms?|rhymes?|haiku|limerick|poem|sonnet|riddle|joke|past tense|plural|passive voice"
    r"|conjugate|spell|typo"
    r"|palindrome|regex|regular expression|algorithm|bubble sort|command line|sql query|python|javascript|html|css|http"
    r"|json|unicode|binary"
    r"|capital (?:city )?of|population of|square root|boiling point|melting point|freezing point|speed of (?:light|sound)"
    r"|light year"
    r"|difference between|meaning of|definition of|plot of|theory of|formula (?:of|for)|chemical symbol|atomic number"
    r"|prime number"
    r"|what (?:does|do|is|are) (?:\S+ ){1,6}(?:mean|stand for|called in \w+)|who (?:wrote|painted|invented|discovered"
    r"|composed|founded|directed|was the first)"
    r"|how many \w+ (?:are )?(?:there )?(?:in|make) (?:an?|one)\b|which is (?:larger|bigger|longer|heavier|older|faster)"
    r"|(?:why|how) (?:is|are|do|does|did) (?:the )?(?:sky|sun|moon|stars?|sea|ocean|earth|leaves|cats|dogs|birds|bees"
    r"|planes?|rainbows?|magnets?|volcano(?:es)?)\b"
    r"|what year (?:did|was)|when (?:did|was) (?:the )?(?:\w+ ){0,3}(?:war|wall|revolution|empire|dynasty|treaty|battle"
    r"|titanic)"
    r"|how long (?:does|do|should) (?:an? )?\w+ (?:take to|have to be|be) (?:\w+-)?(?:boil|cook|bake|roast|steam|hatch|digest)"
    r"|(?:sort|add|sum|multiply|convert|round) (?:these|this|the following|\d)|alphabetical order)\b"
    r"|\d\s*(?:[-+*/x×÷^%]|times|plus|minus|divided by)\s*\d"
    r"|等于(?:多少|几)|(?:乘以|除以|加上|减去|的平方)|多少(?:公里|米|克|千克|毫升|升|平方|度)(?!.{0,4}[路远])|一(?:斤"
    r"|公斤|光年|英里|英寸|海里|亩)"
    r"|翻译|翻成|译成|近义词|反义词|造句|押韵|对联|绝句|律诗|诗歌|藏头诗|谜语|笑话|绕口令|错别字|被动语态|主动语态|病句"
    r"|拼音|部首|成语"
    r"|是?什么意思|怎么(?:区分|读|念|写(?=[？?]))|的?区别(?:是|在)|简述|(?:解释|介绍|科普)一下(?!我)|首都|人口有|沸点"
    r"|熔点|光速|公式|定律|定理|原理是|进制"
    r"|(?:哪一?年|什么时候|何时)(?:发生|建立|成立|爆发|灭亡|修建|发明|开始的|结束的)|(?:建立|成立|爆发|灭亡|修建"
    r"|发明)(?:于|的|在)?(?:哪一?年|什么时候|何时)"
    r"|是谁(?:写|画|发明|发现|提出|建)|(?:发生|建立)在什么时候|为什么(?:会|有|是)?.{0,4}(?:天空|月亮|太阳|星星|海水|彩虹"
    r"|地球|猫|狗|鸟|树叶)"
    r"|(?:冒泡|快速|插入|归并)排序|正则|算法|代码实现|(?:用|写).{0,6}(?:Python|Java|SQL|函数|程序|脚本)",
    2,
)
