"""Whether a new statement says the same as a known one, refines it, contradicts it, or has nothing to do with it. By rules.

A statement is read as the words it affirms and denies, in one writing: stems, synonyms and kinds of the lexicon. Its negating words
are marked, and set phrases that only look like negation left out. The mark `NOT` stands where a negation begins and `END` where its
reach ends, at the end of its clause; what lies between two marks is denied, and denied twice it is affirmed again.

Contradiction is told, in this order, by a slot with two values (age, home, a date), by words that one statement affirms and
the other denies, by opposites, by numbers where all else is equal, and by Chinese statements on one topic of which one denies.
Only the first, and a plain negation of one's own statement word by word, is `sure`; all else is to be flagged with both
lines (memory.md, section 4), and nothing overwritten.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from engramlog_server.projections.language import lexicon
from engramlog_server.projections.language.contradiction.slots import (
    NUMBER_CHINESE,
    NUMBER_ENGLISH,
    SlotClash,
    agreements,
    certain,
    clashes,
    different_places,
    place_at_start,
    slots,
    value_of,
)
from engramlog_server.projections.language.keywords import segmented
from engramlog_server.projections.language.lexicon import Row, either, rows, words
from engramlog_server.projections.language.patterns import HAN, begins_with_han, holds_han, regex
from engramlog_server.projections.language.similar import difference, plain, speaks_from_its_day
from engramlog_server.projections.language.text import stem, stop_words

NOT, END = "\u0001", "\u0002"
"""Control characters, which `marked` takes out of the text before."""
_CONTROL = regex("[\u0000-\u0008\u000e-\u001f]")

_IDLE_CHINESE = regex(
    lambda: (
        r"(?P<drop>(?<![^\s,.!?;。、])(?:不|没有|没|不是)(?:啊|呀|哦|啦|的|呢|吧)?(?=[\s,.!;。])"
        r"|(?<=,)\s?(?:难道)?不是吗(?=\W*$)|(?<![^\s,.!?;。、])没办法(?:啊|呀|呢)?(?=[\s,.!;。])"
        r"|(.)[不没](?=\2)|没有?[啊呀呢吗]?(?=$|[?.!。])|了没(?=[啊呀呢?]|$)|不[啊呀]?(?=$|\?))"
        r"|没事(?=$|[儿吧吗的啊呀,.!?。])|不止|未婚|别(?=[的处样])|岂不|怪不得|不该|不便|失业|不幸|不满(?!意)|不一样"
        rf"|没意思|没钱|无名|不清楚|莫名|{lexicon.idle_negations()}"
    )
)
"""What holds a negating character and denies nothing, or is a word with an opposite of its own (不该, 无聊)."""


def _not_chinese() -> str:
    return (
        f"[{lexicon.negating_characters(but='别別非')}](?:有|会|能|想|要|用|必|曾)?|别(?=[^的])|非(?=[去要说])|并非|极少|戒(?![指备尺])"
        f"|{either(lexicon.negating_chinese('verb'))}"
    )


_TURNS_CHINESE = regex(lambda: f"{_IDLE_CHINESE.pattern}|(?P<denies>{_not_chinese()})")
_END_CHINESE = regex(r"[,.;:!?。、\n…~～]+|但是?|可是|不过|而是|因为|所以|只是|的时候|的话|还是|就是")
_IDLE_ENGLISH = regex(
    r"(?<![^\s,.!?;])(?:oh )?(?:no|nope|nah)\b(?=[,.!;])|\bnot (?:only|just|to mention)\b"
    r"|\bno (?:problem|doubt|matter|wonder|sooner)\b|\bno\. ?(?=\d)|\bcan not (?:wait|help)\b"
    r"|\b(?:why|if|or|of course) not\b(?! [a-z])|\bnothing but\b|\bnever mind\b|, \w+ not (?:i|you|he|she|it|we|they)\?"
)
_NOT_ENGLISH = regex(
    lambda: (
        rf"\b(?:no longer|no one|no-one|{either(lexicon.negating_english('word'))}|nor|cannot"
        r"|unable to|(?:fail|refus|stopp?|quit+|avoid|ceas)(?:e|es|s|ed|ing)?(?: to)?(?= [a-z])"
        r"|g[ia]ven? up|giving up|den(?:y|ies|ied|ying)(?= that)"
        r"|(?<!am )(?<!is )(?<!are )(?<!was )(?<!get )(?<!got )(?<!be )used to|any ?more)\b"
    )
)
_WHOLE = regex(r"\bthere (?:is|are|was|were) (?:not|no)\b|^(?:no|nobody|not)\b")
_END_ENGLISH = regex(
    r"[.;:!?\n]+|,(?= (?:i|you|he|she|it|we|they|so|which|who|but|because|although|there|the)\b)"
    r"|\b(?:but|although|though|because|while|whereas|however|instead|when|if|that)\b"
    r"|\band(?= (?:(?:i|you|he|she|it|we|they|there)\b|(?:is|are|was|were|has|have|had|do|does|did|can|will|would)\b))"
)
_END_OF_PHRASE = regex(r"\b(?:is|are|was|were|has|have|in|on|at|and|to|with|by|of|near|while)\b|[,.;:!?]")
_NO = regex(r"(?:不|没有|不是|不对|不行|不可能)[啊呀哦啦的呢吧]?[,.!。]|(?:oh,? )?(?:no|nope|nah)[,.!]")
_YES = regex(
    r"(?:那?[挺很真太]?[好行对是]|嗯+|可以|当然|没错)[的啊呀哦啦呢吧了嘛]{0,2}[,.!。]"
    r"|(?:oh,? )?(?:yes|yeah|yep|sure|right|of course)[,.!]"
)
_ONE_WORD = {"不一样": "不同"}
"""What the segmenter would cut, so that only its negation were left out."""
_ALONE = {"used to": f" {NOT} ", "anymore": " ", "any more": " "}
_SOMEBODY = {"nobody": "somebody", "no one": "somebody", "no-one": "somebody"}


def written(text: str) -> str:
    """The text in one writing, without control characters."""
    return _CONTROL.sub(" ", plain(text))


def answer(text: str) -> int:
    """1 where a text from `written` begins by answering yes, -1 by answering no, else 0."""
    return 1 if _YES.match(text) else -1 if _NO.match(text) else 0


def marked(text: str) -> str:
    """A text from `written` with `NOT` before what is denied and `END` where clauses end; negating words are gone."""
    chinese = _END_CHINESE.sub(lambda end: f"{END}{end[0]} ", _TURNS_CHINESE.sub(_turned, text))
    return _marked_english(_IDLE_ENGLISH.sub(" ", chinese))


def _turned(found: re.Match[str]) -> str:
    if found["drop"]:
        return " "
    return NOT if found["denies"] else _ONE_WORD.get(found[0], found[0])


def _marked_english(text: str) -> str:
    whole = _WHOLE.search(text) is not None
    parts, at = [], 0
    for found in _NOT_ENGLISH.finditer(text):
        word = found[0]
        mark = _ALONE.get(word, f" {NOT} {_SOMEBODY.get(word, '')} ")
        parts += [text[at : found.start()], mark]
        at = found.end()
        if word == "without" or (word == "no" and not whole):
            end = _END_OF_PHRASE.search(text, at, at + 80)
            if end is not None:
                parts += [text[at : end.start()], f" {END} "]
                at = end.start()
    denied = "".join([*parts, text[at:]])
    if whole:
        return re.sub(r"[.;!?\n]+", END, denied)
    return _END_ENGLISH.sub(lambda end: f" {END} {end[0]}", denied)


MOST_READ = 2_000
"""Characters of a statement that are read: a fact is a sentence or two, and what follows would only cost time."""

_PIECES = regex(rf"[{NOT}{END}]|[{HAN}]+|[^\W_{HAN}]+(?:[-'.][^\W_{HAN}]+)*")
_PARTICLE_TEXT = """
in into inside out outside on onto off up down over under above below before after with from to more less most least
"""
_PARTICLES = frozenset(_PARTICLE_TEXT.split())
"""Small words that are told apart only where all else is the same."""
_LIGHT_TEXT = """
am i you we my your our me us him her them some any also very really just please oh yes yeah there one even still too well
now someone's one's thing think thinks thought believe guess
"""


@cache
def _light() -> frozenset[str]:
    """English words that carry no more of a statement than grammar and degree."""
    return (stop_words() | frozenset(_LIGHT_TEXT.split())) - frozenset(("all", "more", "most"))


_LIGHT_CHINESE_TEXT = """
的 了 是 在 它 们 和 与 就 都 也 很 这 那 个 一个 上 到 说 吗 呢 吧 啊 呀 哦 嗯 嘛 啦 哈 着 过 得 地 为 把 被 让 给 从 跟 还
可以 能 会 有 我 你 您 他 她 我们 你们 他们 自己 一名 一位 一 名 位 只 种 那个 这个 这样 真 真的 非常 特别 太 最 更 比较 挺
好的 好吧 好呀 好啊 是的 对 那么 请问 你好 已经 现在 一下 因为 所以 但 但是 可是 不过 而 而且 什么 啥 怎么 哪里 哪 谁 多少
几 为什么 可能 难道 样 时候 时 东西 事情 事 有点 又 再 再也 并 些 一些 所 之 其 当 儿
"""
_LIGHT_CHINESE = frozenset(_LIGHT_CHINESE_TEXT.split())
_PREDICATING_TEXT = """
am is are was were be been being feel feels felt get gets got become becomes became very really so too quite always completely
"""
_BEFORE_PREDICATE = frozenset(_PREDICATING_TEXT.split())
_LIKES_TO = regex("爱[吃喝看听玩做学去买读唱跳写画打用穿]")
"""One word for the segmenter, and two things that are said: to like, and to eat."""
_WHOLE_NUMBER = regex(f"{NUMBER_ENGLISH}|{NUMBER_CHINESE}")
_QUESTION = regex(r"\?|[吗呢么][啊呀]?\W*$|难道|是不是|有没有|能不能|会不会|要不要|好不好")
_ASKS = regex(r"(?:\?|[吗么][啊呀]?)\s*$")
_AND_YOU = regex(r"[\s,.!;。]{0,4}(?:你呢|您呢|(?:and|how about|what about) you)[?？]*\s*$")
_SENTENCE_END = regex(r"[.!。](?=\s|[^\x00-\x7f]|$)")
_SUPPOSED = regex(
    r"\b(?:if|unless|suppose|supposing|imagine|wish(?:es)?|would)\b|如果|(?<![主需只])要是|假如|假设|万一|倘若|若是|除非|要不是"
)
_UNCERTAIN = regex(
    r"\b(?:might|may|maybe|perhaps|probably|possibly|could|should|hopes?|plan(?:s|ning)?|wants? to|say|says|said|told"
    r"|heard|thinks?|thought|guess|believes?|considering|going to|will|seems?|sometimes|some days|usually|often|almost"
    r"|about)\b|可能|也许|或许|大概|大约|应该|希望|打算|想要|听说|据说|[他她]说|猜|以为|觉得|好像|似乎|估计|差不多|左右"
    r"|有时|一般|通常|不怎么|不太|不大|不常|不一定|不总|[没沒]|正在|\b(?:am|is|are) (?:not )?[a-z]{2,}ing\b"
)
_PAST = regex(
    r"\b(?:used to|did|was|were|had|last (?:year|month|week)|(?:years|months|weeks|days) ago|previously|formerly"
    r"|back (?:then|in)|in the past|when i was|as a child|yesterday|once)\b"
    r"|以前|曾经|之前|过去|当时|那时|去年|前年|小时候|从前|原来|原先|昨天|上次|那年|刚毕业|年前"
)
_PERSON = regex(
    r"\b(?:(?P<first>i|me|my|mine|we|us|our|user)|(?P<second>you|your)|(?P<he>he|him|his)|(?P<she>she|hers?)"
    r"|(?P<they>they|them|their))\b|(?P<first_zh>我|咱|俺|用户)|(?P<second_zh>[你您])|(?P<he_zh>他)|(?P<she_zh>她)"
)


class ParsedText(NamedTuple):
    """What a statement says: its words by canonical form, as often as they are affirmed and denied."""

    text: str
    """In one writing."""
    chinese: bool
    """Whether there is a Han character in it."""
    affirmed: Counter[str]
    denied: Counter[str]
    stems: Counter[str]
    """The words that count, each by itself, synonyms apart."""
    predicates: frozenset[str]
    particles: frozenset[str]
    question: bool
    """Whether anything in it is asked."""
    asks: bool
    """Whether it is a question and nothing else: it asserts nothing."""
    supposed: bool
    """Whether it speaks of what would be: it asserts nothing either."""
    uncertain: bool
    """Whether it hedges, plans, tells what somebody says, or of what goes on or has happened just once."""
    past: bool
    persons: frozenset[str]
    """Of whom it speaks: first, second, he, she, they; none in "a man", "the man"."""

    @property
    def size(self) -> int:
        """Words that count."""
        return self.affirmed.total() + self.denied.total()


@lru_cache(maxsize=1 << 10)
def read(text: str) -> ParsedText:
    """The reading of a text; never raises, whatever the text. Only the first `MOST_READ` characters are looked at."""
    plain_text = written(text[:MOST_READ]).strip()
    affirmed, denied, stems = Counter[str](), Counter[str](), Counter[str]()
    particles, predicates = set[str](), set[str]()
    sign, before = 1, ""
    for piece in _pieces(marked(plain_text)):
        if piece == NOT:
            sign = -sign
        elif piece == END:
            sign = 1
        elif piece in _PARTICLES:
            particles.add(piece)
        elif (word := canonical(piece)) is not None:
            (affirmed if sign > 0 else denied)[word] += 1
            stems[stem(piece)] += 1
            if before in _BEFORE_PREDICATE:
                predicates.add(word)
        if piece not in (NOT, END):
            before = piece
    return ParsedText(
        plain_text,
        holds_han(plain_text),
        affirmed,
        denied,
        stems,
        frozenset(predicates),
        frozenset(particles),
        _QUESTION.search(_AND_YOU.sub("", plain_text)) is not None,
        _ASKS.search(_AND_YOU.sub("", plain_text)) is not None and not _SENTENCE_END.search(plain_text),
        _SUPPOSED.search(plain_text) is not None,
        _UNCERTAIN.search(plain_text) is not None,
        _PAST.search(plain_text) is not None,
        frozenset(str(found.lastgroup).removesuffix("_zh") for found in _PERSON.finditer(plain_text)),
    )


def _pieces(text: str) -> Iterator[str]:
    for found in _PIECES.finditer(text):
        piece = found[0]
        if begins_with_han(piece):
            for word in segmented(piece):
                yield from (word[0], word[1:]) if _LIKES_TO.fullmatch(word) else (word,)
        else:
            yield piece


@lru_cache(maxsize=1 << 14)
def canonical(word: str) -> str | None:
    """The form under which words that are alike are the same; None for a word of grammar."""
    if (number := _number(word)) is not None:
        return number
    if not word.isascii():
        return _canonical_chinese(word)
    if word in _light() or word in _PARTICLES:
        return None
    word = word.removesuffix("'s")
    return _groups().get(stem(word), stem(word)) or None


def _number(word: str) -> str | None:
    """A number in digits: three, 3 and 三 are one. Not "one" and 一, which are nearly articles."""
    if word in ("one", "一") or _WHOLE_NUMBER.fullmatch(word) is None:
        return None
    value = value_of(word)
    return None if value is None else f"{value:g}"


def _canonical_chinese(word: str) -> str | None:
    """Without a pronoun or degree before and a particle after, where the segmenter left them on: 很远, 做过."""
    if word not in _groups() and word not in _LIGHT_CHINESE and len(word) > 1:
        if word[0] in "我你他她很太挺最也都还":
            word = word[1:]
        if len(word) > 1 and word not in _groups():
            word = word.rstrip("吗呢吧啊呀了着过的") or word
    return None if word in _LIGHT_CHINESE else _groups().get(word, word)


@cache
def _groups() -> dict[str, str]:
    """A word's group by its first member; the first group that names it holds."""
    found: dict[str, str] = {}
    for row in rows("alike"):
        first, *rest = (*map(stem, row["english"]), *row["chinese"])
        for word in (first, *rest):
            found.setdefault(word, first)
    return found


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    """The canonical words that say the reverse of a canonical word; symmetric."""
    found: dict[str, set[str]] = {}
    for one, other in _set_against(rows("opposites"), "english", "chinese"):
        x, y = _form(one), _form(other)
        if x != y:
            found.setdefault(x, set()).add(y)
            found.setdefault(y, set()).add(x)
    return {word: frozenset(reverse) for word, reverse in found.items()}


def _set_against(among: Iterable[Row], *columns: str) -> Iterator[tuple[str, str]]:
    """Each word of these columns with each that its row sets against it."""
    return ((one, other) for row in among for column in columns for one in row[column] for other in row["against"])


def _form(word: str) -> str:
    return word if word in _PARTICLES else canonical(word) or word


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    """The kinds a canonical word is of, kinds of kinds among them."""
    direct: dict[str, set[str]] = {}
    for row in rows("kinds"):
        for member in map(_form, row["english"] + row["chinese"]):
            direct.setdefault(member, set()).add(_form(row["kind"][0]))
    found: dict[str, frozenset[str]] = {}
    for member in direct:
        reached, waiting = set[str](), [member]
        while waiting:
            above = direct.get(waiting.pop(), set()) - reached
            reached |= above
            waiting += above
        found[member] = frozenset(reached - {member})
    return found


@cache
def _attributes() -> frozenset[str]:
    """Canonical words that count as opposites only where they are said of something."""
    return frozenset(map(_form, words("attributes", "english")))


@cache
def _opposite_cores() -> frozenset[tuple[str, str]]:
    """Chinese opposites, and what is left of each pair without the characters that both begin or end with (应/不 of 应该, 不该)."""
    found: set[tuple[str, str]] = set()
    for one, other in _set_against(rows("opposites"), "chinese"):
        core = _cores(one, other)
        found |= {(one, other), (other, one)}
        if all(core):
            found |= {core, core[::-1]}
    return frozenset(found)


@cache
def _opposite_parts() -> frozenset[tuple[str, str]]:
    """What two Chinese words that are otherwise one may differ by, so that they say the reverse; symmetric."""
    pairs = frozenset(_set_against(rows("opposite_parts"), "chinese"))
    return pairs | {(other, one) for one, other in pairs}


def _cores(one: str, other: str) -> tuple[str, str]:
    """What is left of two texts without what both begin and end with."""
    start = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    pairs = enumerate(zip(reversed(one), reversed(other), strict=False))
    end = next((at for at, (x, y) in pairs if x != y), min(len(one), len(other)))
    return one[: len(one) - end], other[: len(other) - end]


Match = tuple[str, str, float]
"""A word of each side and how well one stands for the other, 0.5 or 1."""
_MOST_BY_PARTS = 12
"""Words left of a side up to which they are compared part by part, each with each."""
_Sides = tuple[tuple[Counter[str], Counter[str], bool], ...]


@dataclass(slots=True)
class _Alignment:
    """How the words of two readings, `a` and `b`, stand to each other. Linear in their number."""

    agree: list[Match] = field(default_factory=list)
    clash: list[Match] = field(default_factory=list)
    """Affirmed on one side and denied on the other."""
    reverse: list[Match] = field(default_factory=list)
    """Opposites, both affirmed or both denied."""
    left_a: Counter[str] = field(default_factory=Counter)
    left_b: Counter[str] = field(default_factory=Counter)
    left_denied_a: int = 0
    left_denied_b: int = 0

    @property
    def lost(self) -> float:
        """By how much the matches fall short of whole ones."""
        return sum(1 - weight for _, _, weight in self.agree + self.clash)

    @property
    def left(self) -> int:
        return self.left_a.total() + self.left_b.total()


def align(a: ParsedText, b: ParsedText) -> _Alignment:
    """Equal words first, then opposites, then kinds of things ("no drink" speaks of coffee too)."""
    found = _Alignment()
    affirmed_a, denied_a, affirmed_b, denied_b = (
        Counter(words) for words in (a.affirmed, a.denied, b.affirmed, b.denied)
    )
    sides: _Sides = (
        (affirmed_a, affirmed_b, True),
        (denied_a, denied_b, True),
        (affirmed_a, denied_b, False),
        (denied_a, affirmed_b, False),
    )
    for one, other, alike in sides:
        for word in [word for word in one if word in other]:
            times = min(one[word], other[word])
            (found.agree if alike else found.clash).extend([(word, word, 1.0)] * times)
            _take(one, word, times)
            _take(other, word, times)
    restored = False
    for one, other, alike in sides:
        for x, y in chain(_pairs(one, other, _opposites()), _by_parts(one, other)):
            counts = x not in _attributes() or (x in a.predicates and y in b.predicates)
            if counts:
                (found.reverse if alike else found.agree).append((x, y, 1.0))
                _take(one, x, 1)
                _take(other, y, 1)
                restored |= not alike
    if restored:  # "I do not hate coffee" denies nothing of what "I like coffee" says of coffee
        found.agree += found.clash
        found.clash = []
    for one, other, alike in sides:
        for x, y in _pairs(one, other, _kinds()):
            _kind(found, (one, other), (x, y), alike or other is denied_b, alike)
        for y, x in _pairs(other, one, _kinds()):
            _kind(found, (one, other), (x, y), alike or one is denied_a, alike)
    found.left_a, found.left_b = affirmed_a + denied_a, affirmed_b + denied_b
    found.left_denied_a, found.left_denied_b = denied_a.total(), denied_b.total()
    return found


def _kind(
    found: _Alignment, sides: tuple[Counter[str], Counter[str]], pair: tuple[str, str], whole: bool, alike: bool
) -> None:
    """To deny the kind is to deny each of it; to deny one of it says less about the kind."""
    (found.agree if alike else found.clash).append((*pair, 1.0 if whole else 0.5))
    for side, word in zip(sides, pair, strict=True):
        _take(side, word, 1)


def _pairs(one: Counter[str], other: Counter[str], table: Mapping[str, frozenset[str]]) -> Iterable[tuple[str, str]]:
    """Pairs of a word of `one` and a word of `other` that the table joins; no word twice."""
    taken: set[str] = set()
    for x in list(one):
        y = min((y for y in table.get(x, ()) if y in other and y not in taken), default=None)
        if y is not None:
            taken.add(y)
            yield x, y


def _by_parts(one: Counter[str], other: Counter[str]) -> Iterable[tuple[str, str]]:
    """Pairs of Chinese words of one length that differ only by parts that are opposites: 早睡, 晚睡; no word twice."""
    if len(one) > _MOST_BY_PARTS or len(other) > _MOST_BY_PARTS:
        return
    taken: set[str] = set()
    for x in sorted(one):
        alike = (y for y in sorted(other) if y not in taken and 1 < len(x) == len(y) and not (x + y).isascii())
        y = next((y for y in alike if _cores(x, y) in _opposite_parts()), None)
        if y is not None:
            taken.add(y)
            yield x, y


def _take(words: Counter[str], word: str, times: int) -> None:
    words[word] -= times
    if words[word] <= 0:
        del words[word]


Kind = Literal["same", "refines", "contradicts", "unrelated"]

DENIER_COVERED, DENIED_COVERED, AFFIRMER_COVERED = 0.8, 0.75, 0.4
"""English: the share of the denying statement's words, of its denied words and of the other's words that must be matched."""
COVERED_CHINESE, DENIED_CHINESE = 0.3, 0.5
"""Chinese, whose words the segmenter cuts less evenly: of both statements' words, and of the denied ones."""
BESIDE_OPPOSITES, BESIDE_OPPOSITES_CHINESE = 0.6, 0.5
"""The share of all words that must be matched for opposites to count."""
_FEW_WORDS = 3
"""A statement of no more is all said with its slot."""
_ON_ONE_TOPIC = 0.3
"""Dice coefficient of characters from which two Chinese statements are on one topic."""

_SPEAKER = frozenset(("first",))


class Relation(NamedTuple):
    """How a new statement stands to a known one, and why."""

    kind: Kind
    sure: bool
    """Whether it may be acted upon; a contradiction that is not sure is a possible conflict, to be shown with both lines."""
    reasons: tuple[str, ...]
    slots: tuple[SlotClash, ...] = ()
    """The values that clash, new and known."""
    by_characters: bool = False
    """It was told by shared characters alone: so two replies to one question contradict each other, and hardly anything else."""


def compare(new: str, known: str, *, rewritten: bool = False) -> Relation:
    """The relation of two texts in English, Chinese or both; never raises. Time grows with their length.

    Contradicts and unrelated are symmetric. "Same" means that `new` adds nothing to `known`, "refines" that it adds
    something and takes nothing away. `rewritten`: one was made of the other, so that shared characters tell what it is about.
    Beyond `MOST_READ` characters of each nothing is read, and none is the same but an equal.
    """
    whole = len(new) <= MOST_READ and len(known) <= MOST_READ
    if new == known or (whole and difference(new, known) is None):
        return Relation("same", True, ("the same words",))
    said_new, said_known = read(new), read(known)
    slots_new, slots_known = slots(said_new.text), slots(said_known.text)
    if found := clashes(slots_new, slots_known):
        return Relation("contradicts", any(map(certain, found)), tuple(map(str, found)), found)
    if silent := _asserts_nothing(said_new, said_known):
        return Relation("unrelated", False, (silent,))
    # Aligned in one order whichever is new, so that the two ways round agree.
    swapped = new > known
    a, b = (said_known, said_new) if swapped else (said_new, said_known)
    aligned = align(a, b)
    reason = next(_contradictions(a, b, aligned), None)
    alike = next(_by_characters(a, b, rewritten=rewritten), None) if reason is None else None
    if told := reason or alike:
        return Relation("contradicts", _plainly_negated(a, b, aligned), (told,), by_characters=reason is None)
    if slots_new and said_new.size <= _FEW_WORDS and agreements(slots_new, slots_known) == slots_new:
        return Relation("same", False, (f"the same value: {slots_new[0]}",))
    lefts = (aligned.left_b, aligned.left_a) if swapped else (aligned.left_a, aligned.left_b)
    # Where one denies something that was not told, no word tells that the two are one.
    told_apart = next(_by_characters(a, b, rewritten=True), None) is not None
    return _beside(aligned, *lefts, whole=whole and not told_apart)


def _beside(aligned: _Alignment, left_new: Counter[str], left_known: Counter[str], *, whole: bool) -> Relation:
    """The relation of statements that do not contradict each other."""
    joined = whole and aligned.agree and not aligned.clash and not aligned.reverse
    if joined and not left_new:
        return Relation("same", False, ("adds no word",))
    if joined and not left_known:
        return Relation("refines", False, (f"adds: {_few(left_new)}",))
    return Relation("unrelated", False, (f"only one says: {_few(left_new)} / {_few(left_known)}",))


def _asserts_nothing(a: ParsedText, b: ParsedText) -> str | None:
    """Why the two cannot be compared: one asks or supposes where the other asserts, or they speak of different persons."""
    if (a.asks and not b.question) or (b.asks and not a.question):
        return "a question asserts nothing"
    if a.supposed != b.supposed:
        return "a supposition asserts nothing"
    if a.persons and b.persons and a.persons.isdisjoint(b.persons):
        return "they speak of different persons"
    return None


def _contradictions(a: ParsedText, b: ParsedText, aligned: _Alignment) -> Iterator[str]:
    """Why two statements contradict each other, the best reason first; none where they do not."""
    chinese = a.chinese or b.chinese
    if aligned.clash and _denial_covers(a, b, aligned, chinese):
        yield f"one denies: {_named(aligned.clash)}"
    covered = 1 - aligned.left / max(1, a.size + b.size)
    least = BESIDE_OPPOSITES_CHINESE if chinese else BESIDE_OPPOSITES
    if covered >= least and (len(aligned.reverse) % 2 or (chinese and aligned.reverse)):
        yield f"opposites: {_named(aligned.reverse)}"
    if not aligned.left and not aligned.clash and (pair := _opposite_particles(a, b)):
        yield f"opposites: {pair}"
    if aligned.agree and a.persons and b.persons and _only_numbers(aligned.left_a) and _only_numbers(aligned.left_b):
        yield f"numbers: {_few(aligned.left_a)} / {_few(aligned.left_b)}"
    if chinese:
        one, other = _cores(a.text, b.text)
        if (one, other) in _opposite_cores():
            yield f"opposites: {one} / {other}"


def _by_characters(a: ParsedText, b: ParsedText, *, rewritten: bool) -> Iterator[str]:
    """What needs no words: where the segmenter cut two Chinese statements differently, their characters still tell.

    Of two free statements that share characters a denial tells nothing: it is in as many that agree.
    """
    if not a.chinese and not b.chinese:
        return
    alike = _alike(a.text, b.text)
    if alike < _ON_ONE_TOPIC:
        return
    if answer(a.text) * answer(b.text) < 0:
        yield "one answers yes, the other no"
    if rewritten and bool(a.denied) != bool(b.denied):
        yield f"one denies something, and {alike:.0%} of the characters are shared"


def _denial_covers(a: ParsedText, b: ParsedText, aligned: _Alignment, chinese: bool) -> bool:
    """Whether what is denied on one side is what the other affirms, and they speak of one thing."""
    by_a = sum(a.denied[x] > 0 for x, _, _ in aligned.clash)
    by_b = sum(b.denied[y] > 0 for _, y, _ in aligned.clash)
    denier_is_a = by_a >= by_b
    denier, affirmer = (a, b) if denier_is_a else (b, a)
    left, left_other = (aligned.left_a, aligned.left_b) if denier_is_a else (aligned.left_b, aligned.left_a)
    missing = aligned.left_denied_a if denier_is_a else aligned.left_denied_b
    weight = sum(weight for _, _, weight in aligned.clash)
    denied = weight / (weight + missing)
    of_denier = (denier.size - left.total() - aligned.lost) / max(1, denier.size)
    of_affirmer = (affirmer.size - left_other.total()) / max(1, affirmer.size)
    if chinese:
        return denied >= DENIED_CHINESE and min(of_denier, of_affirmer) >= COVERED_CHINESE
    return denied >= DENIED_COVERED and of_denier >= DENIER_COVERED and of_affirmer >= AFFIRMER_COVERED


def _plainly_negated(a: ParsedText, b: ParsedText, aligned: _Alignment) -> bool:
    """Whether the speaker says of himself, as of now and without doubt, just what the other statement denies, word for word."""
    if not aligned.clash or aligned.reverse or a.stems != b.stems or a.particles != b.particles:
        return False
    if a.persons != _SPEAKER or b.persons != _SPEAKER or bool(a.denied) == bool(b.denied):
        return False
    doubtful = any(one.question or one.supposed or one.uncertain or one.past for one in (a, b))
    return not doubtful and not any(speaks_from_its_day(one.text) for one in (a, b))


def _opposite_particles(a: ParsedText, b: ParsedText) -> str | None:
    pairs = (
        f"{x} / {y}"
        for x in sorted(a.particles - b.particles)
        for y in sorted(_opposites().get(x, ()))
        if y in b.particles and y not in a.particles
    )
    return next(pairs, None)


def _only_numbers(words: Counter[str]) -> bool:
    return bool(words) and all(word[0].isdigit() for word in words)


def _alike(one: str, other: str) -> float:
    x, y = (Counter(filter(str.isalnum, text)) for text in (one, other))
    return 2 * (x & y).total() / max(1, x.total() + y.total())


def _named(matches: list[Match]) -> str:
    return ", ".join(x if x == y else f"{x} / {y}" for x, y, _ in matches[:3])


def _few(words: Counter[str]) -> str:
    return " ".join(list(words)[:3]) or "-"


_WHERE = regex(
    r"(?:i|we|user|the user)(?:'m| am| is| are|'re)? (?:currently |now |still |just )?"
    r"(?:stay(?:ing|s)?|liv(?:e|es|ing)|based|back)? ?(?:in|at) "
)
_WHERE_CHINESE = regex(r"(?:我们?|用户|主人)?(?:人|都|暂时|现在|目前|还)*(?:住|待|呆)?在")
_SAID = regex(r"（\d{4}-\d\d-\d\d说）")
_SUBJECT = regex(
    r"^(?:(?:the )?user|i|we)(?:'m|'re|'ll)?\b|^(?:我们?|用户|主人)|\b(?:am|is|are|be|will|currently|now)\b"
)
_ENDING = regex(r"(?:ing|es|s|e)\b")
_PLACED = frozenset(["at", "in", "for", "with", "on", "from"])
_MOST_WORDS = 4
"""Words behind the preposition, in each of the two."""


def interrupts(new: str, known: str) -> bool:
    """Whether a statement, without its bound in time, cannot hold beside another at the same time. Never raises."""
    here, there = _whereabouts(new), _whereabouts(known)
    if here is not None and there is not None:
        return different_places(here, there)
    return _but_for_one(_plain(new), _plain(known)) or compare(new, known).kind == "contradicts"


@lru_cache(maxsize=1 << 10)
def _whereabouts(text: str) -> str | None:
    """The place where somebody says that he is or lives; None where no known one is told."""
    told = written(text)
    found = next((one.value for one in slots(told) if one.name in ("home", "whereabouts") and one.subject == "i"), None)
    if found is not None:
        return found
    folded = text.casefold().strip()
    match = _WHERE.match(folded) or _WHERE_CHINESE.match(folded)
    place = None if match is None else place_at_start(folded[match.end() :])
    return None if match is None or place is None or folded[match.end() + place[1] :].strip(" .。了!！") else place[0]


def _plain(text: str) -> tuple[str, ...]:
    """Its words without who says it and without endings; signs where they are Chinese."""
    said = _SUBJECT.sub("", _SAID.sub("", text).casefold().strip()).strip(" .。!！")
    if regex(f"[{HAN}]").search(said):
        return tuple(said)
    return tuple(_ENDING.sub("", word) for word in said.split())


def _but_for_one(new: tuple[str, ...], known: tuple[str, ...]) -> bool:
    """Whether two say the same but for what stands behind a preposition."""
    before = _shared(new, known)
    if not before or before == min(len(new), len(known)):
        return False
    if "在" in new[:before]:
        behind = _shared(new[before:][::-1], known[before:][::-1])
        return behind > 1
    left = max(len(new), len(known)) - before
    return before > 1 and new[before - 1] in _PLACED and left <= _MOST_WORDS


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many of the first of two rows are the same."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
