"""Whether a statement says that something is no longer so: its words of change, and the known statement that they are about. Pure.

A word of change ("sold", "now", 改成, 不…了) says that something changed, not what. That is the known statement nearest to it:
in meaning if a model is there, in the words that both have, and in the attribute of which both speak (home, work, phone). If two
are about equally near, it is neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from projections.language import kin
from projections.language.contradiction.negation import written
from projections.language.contradiction.reading import MOST_READ, read
from projections.language.extraction.times import for_a_time
from projections.language.lexicon import either, rows, words
from projections.language.patterns import regex
from projections.language.scripts import holds_han
from projections.language.traditional import SIMPLIFIED

Alike = Callable[[str, Sequence[str]], Sequence[float] | None]
"""How near a text is to others in meaning, each from -1 to 1; None without a model."""


def no_model(_text: str, _others: Sequence[str]) -> None:
    """The `Alike` of a process without a model."""


UNKNOWN = 0.2
"""What two statements of one person are usually alike in meaning: counts for each if there is no model."""
SHARED_WORD, SHARED_SIGN, SHARED_ATTRIBUTE = 0.16, 0.08, 0.1
"""What a common word adds to the nearness (two at most), a Chinese word of one character, and a common attribute."""
NOTHING_SHARED = 0.08
"""Subtracted from a statement that shares neither word nor attribute."""
PERHAPS, NOW, ENDS, CORRECTS = 1, 2, 3, 4
"""How much words say of change: perhaps something (a final 了); what is so now; that something ended; that it was said wrongly."""
NEAR = {PERHAPS: 0.40, NOW: 0.36, ENDS: 0.24, CORRECTS: 0.24}
"""From which nearness a statement counts as meant."""
AHEAD = {PERHAPS: 0.08, NOW: 0.08, ENDS: 0.05, CORRECTS: 0.05}
"""By how much it must be nearer than every other one."""
SURE = {NOW: 0.5, ENDS: 0.35, CORRECTS: 0.35}
"""From which nearness it ends; below that, and for `PERHAPS`, both are only marked."""
SURE_AHEAD = {NOW: 0.15, ENDS: 0.1, CORRECTS: 0.1}


_CORRECTED = (
    r"\b(?:misspoke|i was (?:wrong|mistaken)|typo|correction|no wait|wait, no|scratch that|my mistake|i meant|i mis[a-z]+ed"
    r"|not right|(?:got|had) (?:that|it) wrong|sorry, (?:i|it|that)|oops|forget what i said|actually)\b"
    r"|[说打记写算搞弄]错|更正|纠正|口误|不对[,，]|应该是"
)
_ENDED = (
    r"\b(?:no longer|no more|any ?more|instead|from now on|after all|quits?|g[ia]ve[ns]? up|g[oe]t(?:ting)? rid of|threw|sold"
    r"|gave (?:away|it|the|my|our)|traded|swapp?ed|switch(?:ed|ing)|mov(?:ed|ing) (?!me\b|to tears)|moved|relocated|migrated"
    r"|changed|replaced|renamed|rebranded|ditched|dumped|dropped|pulled out|backed out|cancell?ed|called off|broke|split up"
    r"|separated|divorced|got (?:married|engaged|fired)|married (?:yesterday|last|today)|retired|resigned|laid off"
    r"|let (?:me|him|her|us|them) go|promoted|pushed (?:to|back)|postponed|rescheduled|brought forward|put off"
    r"|put [a-z]+ prices? up|raised|increased|lowered|reduced|(?:went|gone) (?:up|down|back|off|over)|(?:is|are|was) off"
    r"|finished|cleare?d?|came off|died|stolen|stole|stopped|outgrew|uninstalled|closed (?:my|the|our)|forget about"
    r"|upgraded|settled on|ended up|can not (?:do|make) it|not (?:coming|going|doing|happening)|doubled|halved)\b"
    r"|不再|再也不|不[^,，。！!？?、了]{1,8}了|改|换[成了到用个号去]|转[成到行去正]|搬[到去来出进回家了]|跳槽|辞[职了掉]|离职|被裁|失业"
    r"|退[休了赛出掉租学]|升[职任主了]|分手|离婚|离了|结婚了|领证了|求婚|复合|[卖扔戒拆丢][了掉]|出掉|送[人给]|被偷|摔坏|坏了|卸载|弃用"
    r"|停[了药服用]|戒[烟酒]|滴酒不沾|腻了|取消|推迟|延期|提前到|挪到|排到|[涨降][到价了]|算了|黄了|泡汤|搁置|不急|作罢|以后|今后"
    r"|从[^,，。]{1,6}起|又能|又可以|吃完了|回[^,，。]{1,4}了"
)
_IS_NOW = (
    r"\b(?:now|nowadays|these days|currently|lately|as of|start(?:ing|ed)|again|will be|going (?:by|for)|went for"
    r"|picked up|found an?|settled (?:at|in|into)"
    r"|finally|some(?:one|body) new|(?:have|has) been [^.]{2,40} since|going to be|first (?:night|day|week) (?:in|at|with))\b"
    r"|现在|如今|目前|后来|最后|自从"
)
_MAY_BE_NOW = r"没[^,，。！!？?、了]{0,6}了(?![一二三四五六七八九十两几])|了(?=[,，。！!；;.]|$)"
_STRENGTHS = (
    (CORRECTS, regex(_CORRECTED)),
    (ENDS, regex(_ENDED)),
    (NOW, regex(_IS_NOW)),
    (PERHAPS, regex(_MAY_BE_NOW)),
)
_SUPPOSED = regex(
    r"\b(?:if|unless|suppose|supposing|imagine|pretend|wish(?:es)?|would|could|might|(?<!since )(?<!in )(?<!by )(?<!of )"
    r"(?<!until )(?<!last )may|maybe|perhaps|should|considering|thinking (?:of|about)|tempted|dream(?:t|ed|s)?|jok(?:e|es|ing)"
    r"|kidding|ha(?:ha)+|lol|almost|nearly|(?:one|some) ?day|whether|threaten(?:ed|s)?|wants? (?:me|us) to|tells? me to"
    r"|keeps? saying|talk(?:s|ed)? about|rumou?rs?|april fool'?s?|let us say|in another life|ask(?:s|ed|ing)?|(?:film"
    r"|movie|novel|book|song|series|character|hero|heroine)\b[^.]{0,30}\b(?:leaves?|moves?|sells?|quits?|says?))\b"
    r"|传闻|谣[传言]|传言|网上|有人|愚人节|比如|要不[我把]|真想|恨不得|没说|如果|要是|假如|假设|万一|倘若|若是|想象|梦[见到]|做梦|开玩笑|哈哈|差点|该不该|要不要|是不是|会不会|能不能|也许|可能"
    r"|大概|听说|据说|[他她谁]们?说|劝我|问我|老问|主角|[剧书]里|小说里|电影里|电视里"
)
"""Whoever supposes, jokes, reports or tells a story ends nothing."""
_QUOTED = regex(r"[“\"「『][^”\"」』]{6,}[”\"」』]")
_SENTENCE = regex(r"[^.!?。！？;；\n]+(?:\.(?=\w)[^.!?。！？;；\n]+)*[.!?。！？;；]*")
_CLAUSE = regex(r"[^,，、:：]+")
_ASKS = regex(r"[?？]$|[吗么呢][。.]?$")
_NOT_DONE = regex(
    r"\b(?:have|has|did|do|does|am|is|are|was|were) not (?:yet )?(?:sold|mov|chang|switch|quit|swap|replac)|\bstill (?!do not)"
    r"|还没|没有?[搬换卖改辞]|没打算|从来|[点时][以之]后|\bnot giving up"
)
_ANOTHER = regex(
    r"\b(?:too(?! [a-z])|also|as well|another|other|second|additional|besides|both|learning"
    r"|(?:started|begun|took up|taken up) (?!seeing|dating)[a-z]+ing(?![^.]*again))\b"
    r"|也|又(?!能|可以)|还[有爱喜在会要]|在学|开始|最近|这几天|另外|同时|以及"
)
_AHEAD_OF_TIME = regex(
    r"\b(?:going to|will|plan(?:s|ned|ning)?|intend(?:s|ed)?|meant to|wants? to|hope to|tomorrow"
    r"|next (?:week|month|year|spring|summer|autumn|winter))\b|打算|计划|准备|想|要|明[年天]|下个?[月周]|将"
)
_LONG_AGO = regex(
    r"\b(?:used to|until (?:19|20)\d\d|years? ago|back then|last year)\b|^i (?:studied|worked|lived|grew|went|taught) "
    r"|以前|曾经|去年|小时候|从前"
)
_EXCHANGES = regex(r"\b(?:swapped|traded|exchanged|switched) [^.]{2,40} for (?:an?|the|this) ", re.IGNORECASE)
_OF_A_NAME = regex(
    r"(?!(?:It|This|That|There|He|She|They|What|The|My|Our|We|You|One|User|Every|Some"
    r"|All)\b)(?P<name>[A-Z][a-z]+) (?:is|has|was|[a-z]+s)\b"
)
"""A statement about somebody by name."""
_USER = regex(r"^User(?:'s)? |^用户")
_FIRST = regex(r"\b(?:i|we|my|our|ours|mine|me|us|user)\b|[我咱俺]|用户")
_THIRD = regex(r"^\W*(?:so |and |but )?(?:he|she)\b|^\W*[他她]")
_OTHERS = r"friends?|neighbou?rs?|colleagues?|co-?workers?|boss|roommate|flatmate|classmate"
_OTHERS_CHINESE = "朋友|邻居|同事|同学|室友|老板"
_PERSON = regex(lambda: rf"\b(?:{kin.english()}|{_OTHERS})\b|{kin.chinese()}|{_OTHERS_CHINESE}")
_SUBJECT = regex(
    lambda: (
        rf"^\W*(?:so |and |but )?(?:(?:my|our|user's|the user's) )?(?:new |old |best |next-door )?"
        rf"({kin.english()}|{_OTHERS})\b(?! and i\b)"
        rf"|^\W*(?:我们?|咱|用户)?[家的]?({kin.chinese()}|{_OTHERS_CHINESE})(?![和跟]我)"
    )
)


class Telling(NamedTuple):
    """What a statement says of change."""

    strength: int
    """0: nothing; else `PERHAPS` to `CORRECTS`."""
    word: str = ""
    subjects: frozenset[str] = frozenset()
    """The people who are the subject of its words of change; empty: the speaker, or a thing."""
    first: bool = False
    """Whether its words of change speak of the speaker."""
    third: bool = False
    """Whether they speak of somebody named before: he, she."""
    another: bool = False
    """Whether something else holds too."""


class Change(NamedTuple):
    """The known statement that a new one changes."""

    at: int
    """Its place among the known ones."""
    sure: bool
    """Whether it ends; else both are marked."""
    reason: str


@lru_cache(maxsize=1 << 10)
def telling(text: str) -> Telling:
    """What a statement says of change; nothing if it asks, supposes, quotes or jokes. Never raises."""
    plain = _QUOTED.sub(" ", _plain(text))
    if _SUPPOSED.search(plain):
        return Telling(0)
    found = [one for sentence in _SENTENCE.finditer(plain) if (one := _in_sentence(sentence[0].strip())) is not None]
    if not found:
        return Telling(0)
    strength, word, clause = max(found, key=lambda one: one[0])
    return Telling(
        strength,
        word,
        _subjects(clause),
        _FIRST.search(clause if _PERSON.search(clause) or len(clause.split()) > 2 else plain) is not None,
        _THIRD.match(clause) is not None,
        _ANOTHER.search(plain) is not None,
    )


def _in_sentence(sentence: str) -> tuple[int, str, str] | None:
    """The strongest word of change in a sentence: its strength, itself, and the clause that has it."""
    if _ASKS.search(sentence):
        return None
    for strength, pattern in _STRENGTHS:
        found = pattern.search(sentence)
        if found is not None:
            clause = next((one[0] for one in _CLAUSE.finditer(sentence) if one.end() >= found.end()), sentence)
            if not _NOT_DONE.search(clause):
                return strength, found[0].strip(), clause
    return None


def changed(new: str, known: Sequence[str], alike: Alike) -> Change | None:
    """Which of some known statements of the same speaker a new one changes; None if none, or if two are about equally near."""
    told = telling(new)
    if not told.strength or (told.another and told.strength < ENDS) or (told.strength < CORRECTS and _for_a_while(new)):
        return None
    places = [at for at, text in enumerate(known) if _may_be_meant(told, new, text)]
    near = alike(new, [known[at] for at in places]) if places else None
    weighed = sorted(
        ((_nearness(new, known[at], UNKNOWN if near is None else near[row]), at) for row, at in enumerate(places)),
        reverse=True,
    )
    if not weighed:
        return None
    (best, at), lead = weighed[0], weighed[0][0] - (weighed[1][0] if len(weighed) > 1 else 0.0)
    if best < NEAR[told.strength] or lead < AHEAD[told.strength]:
        return None
    named = _shared(new, known[at])
    if near is None and not named:
        return None
    one_attribute = told.strength > NOW and bool(attributes(new) & attributes(known[at]))
    sure = (
        not told.another
        and not _LONG_AGO.search(_plain(new))
        and best >= SURE.get(told.strength, 2.0)
        and lead >= SURE_AHEAD[told.strength]
        and (named or one_attribute)
    )
    return Change(at, sure, f"the speaker says that it changed: {told.word}")


def _for_a_while(text: str) -> bool:
    """Whether a statement is said of a while; "swapped it for a week on a boat" is not."""
    return for_a_time(text) and not _EXCHANGES.search(text)


def _may_be_meant(told: Telling, new: str, known: str) -> bool:
    """Whether a known statement is of the same people and of a time that may change."""
    there = _plain(known)
    people, mentioned = _people(known)
    if told.subjects and told.subjects != people and not told.subjects & mentioned:
        return False
    if told.third and not mentioned:
        return False
    named = _OF_A_NAME.match(known)
    if named is not None and told.first and named["name"].casefold() not in new.casefold():
        return False
    if told.strength == CORRECTS:
        return True
    if people and told.first and not told.subjects and not people & _people(new)[1]:
        return False
    coming = _AHEAD_OF_TIME.search(_plain(new)) and not _AHEAD_OF_TIME.search(there)
    dated = {"date", "plan"} & attributes(new) & attributes(known)
    return not _LONG_AGO.search(there) and (not coming or bool(dated))


def _nearness(new: str, known: str, alike: float) -> float:
    shared = sorted(map(_worth, _common(new, known)), reverse=True)
    common = sum(shared[:2]) + (SHARED_ATTRIBUTE if attributes(new) & attributes(known) else 0.0)
    return alike + (common or -NOTHING_SHARED)


def _common(new: str, known: str) -> frozenset[str]:
    """The words that both have; a Chinese one may stand within a longer one, as the segmenter cuts names unevenly."""
    one, other = _topic(new), _topic(known)
    within = (x for mine, theirs in ((one, other), (other, one)) for x in mine if _is_within(x, theirs))
    return (one & other) or frozenset(within)


def _is_within(word: str, others: frozenset[str]) -> bool:
    if not holds_han(word):
        return len(word) > 4 and any(other.endswith(word) for other in others)
    return len(word) > 1 and any(word in other for other in others)


def _worth(word: str) -> float:
    return SHARED_SIGN if len(word) == 1 and holds_han(word) else SHARED_WORD


def _shared(new: str, known: str) -> bool:
    """Whether both name one thing; a person has several at a time."""
    return any(_worth(one) == SHARED_WORD and not _PERSON.fullmatch(one) for one in _common(new, known))


@lru_cache(maxsize=1 << 12)
def _plain(text: str) -> str:
    return written(_of_user(text[:MOST_READ].translate(SIMPLIFIED)))


def _of_user(text: str) -> str:
    """A statement about "the user" as the speaker's: the word itself is no topic."""
    return _USER.sub(lambda one: "我" if one[0] == "用户" else "My " if one[0].endswith("'s ") else "I ", text)


@lru_cache(maxsize=1 << 12)
def _people(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The people with whom a statement begins, and all that it mentions."""
    plain = _plain(text)
    return _subjects(plain), frozenset(_PERSON.findall(plain))


def _subjects(clause: str) -> frozenset[str]:
    """The people with whom a clause begins."""
    found = _SUBJECT.match(clause)
    return frozenset() if found is None else frozenset(filter(None, found.groups()))


@lru_cache(maxsize=1 << 12)
def _topic(text: str) -> frozenset[str]:
    """The words by which a statement says what it is about."""
    seen = read(_of_user(text[:MOST_READ].translate(SIMPLIFIED)))
    idle = frozenset((*words("idle_topics", "english"), *words("idle_topics", "chinese")))
    return frozenset(
        one for one in (*seen.affirmed, *seen.denied) if not (one[0].isdigit() or one[0] == "一" or one in idle)
    )


@lru_cache(maxsize=1 << 12)
def attributes(text: str) -> frozenset[str]:
    """The attributes of which a statement speaks: home, work, phone; rows of `topics.tsv`."""
    plain = _plain(text)
    return frozenset(name for name, pattern in _attributes().items() if pattern.search(plain))


@cache
def _attributes() -> dict[str, re.Pattern[str]]:
    """A trade is of work too."""
    trades = {"work": (words("jobs", "english"), words("jobs", "chinese"))}
    found = {}
    for row in rows("topics"):
        name = row["attribute"][0]
        english, chinese = trades.get(name, ((), ()))
        found[name] = re.compile(
            rf"\b(?:{either((*row['english'], *english))})\b|{either((*row['chinese'], *chinese))}"
        )
    return found
