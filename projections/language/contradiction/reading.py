"""A statement as the words it affirms and denies, in one writing: stems, synonyms and kinds of the lexicon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from engramlog_server.projections.language.contradiction.negation import END, NOT, marked, written
from engramlog_server.projections.language.contradiction.numbers import NUMBER_CHINESE, NUMBER_ENGLISH, value_of
from engramlog_server.projections.language.keywords import segmented
from engramlog_server.projections.language.lexicon import Row, rows, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN, begins_with_han, holds_han
from engramlog_server.projections.language.text import stem, stop_words

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
    return _alike().get(stem(word), stem(word)) or None


def _number(word: str) -> str | None:
    """A number in digits: three, 3 and 三 are one. Not "one" and 一, which are nearly articles."""
    if word in ("one", "一") or _WHOLE_NUMBER.fullmatch(word) is None:
        return None
    value = value_of(word)
    return None if value is None else f"{value:g}"


def _canonical_chinese(word: str) -> str | None:
    """Without a pronoun or degree before and a particle after, where the segmenter left them on: 很远, 做过."""
    if word not in _alike() and word not in _LIGHT_CHINESE and len(word) > 1:
        if word[0] in "我你他她很太挺最也都还":
            word = word[1:]
        if len(word) > 1 and word not in _alike():
            word = word.rstrip("吗呢吧啊呀了着过的") or word
    return None if word in _LIGHT_CHINESE else _alike().get(word, word)


@cache
def _alike() -> dict[str, str]:
    """A word's group by its first member; the first group that names it holds."""
    found: dict[str, str] = {}
    for row in rows("alike"):
        first, *rest = (*map(stem, row["english"]), *row["chinese"])
        for word in (first, *rest):
            found.setdefault(word, first)
    return found


@cache
def opposites() -> Mapping[str, frozenset[str]]:
    """The canonical words that say the reverse of a canonical word; symmetric."""
    found: dict[str, set[str]] = {}
    for one, other in _pairs(rows("opposites"), "english", "chinese"):
        x, y = _form(one), _form(other)
        if x != y:
            found.setdefault(x, set()).add(y)
            found.setdefault(y, set()).add(x)
    return {word: frozenset(reverse) for word, reverse in found.items()}


def _pairs(among: Iterable[Row], *columns: str) -> Iterator[tuple[str, str]]:
    """Each word of these columns with each that its row sets against it."""
    return ((one, other) for row in among for column in columns for one in row[column] for other in row["against"])


def _form(word: str) -> str:
    return word if word in _PARTICLES else canonical(word) or word


@cache
def kinds() -> Mapping[str, frozenset[str]]:
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
def attributes() -> frozenset[str]:
    """Canonical words that count as opposites only where they are said of something."""
    return frozenset(map(_form, words("attributes", "english")))


@cache
def opposite_cores() -> frozenset[tuple[str, str]]:
    """Chinese opposites, and what is left of each pair without the characters that both begin or end with (应/不 of 应该, 不该)."""
    found: set[tuple[str, str]] = set()
    for one, other in _pairs(rows("opposites"), "chinese"):
        core = cores(one, other)
        found |= {(one, other), (other, one)}
        if all(core):
            found |= {core, core[::-1]}
    return frozenset(found)


@cache
def opposite_parts() -> frozenset[tuple[str, str]]:
    """What two Chinese words that are otherwise one may differ by, so that they say the reverse; symmetric."""
    pairs = frozenset(_pairs(rows("opposite_parts"), "chinese"))
    return pairs | {(other, one) for one, other in pairs}


def cores(one: str, other: str) -> tuple[str, str]:
    """What is left of two texts without what both begin and end with."""
    start = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    pairs = enumerate(zip(reversed(one), reversed(other), strict=False))
    end = next((at for at, (x, y) in pairs if x != y), min(len(one), len(other)))
    return one[: len(one) - end], other[: len(other) - end]
