"""A statement as the words it affirms and denies, in one writing: stems, synonyms and kinds of the lexicon.

Its negating words are marked, and set phrases that only look like negation left out. The mark `NOT` stands where a negation begins
and `END` where its reach ends; what lies between two marks is denied, and denied twice it is affirmed again. A denial reaches to
the right, to the end of its clause (both languages).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from engramlog_server.projections.language import negators
from engramlog_server.projections.language.contradiction.values import NUMBER_CHINESE, NUMBER_ENGLISH, value_of
from engramlog_server.projections.language.keywords import segmented
from engramlog_server.projections.language.lexicon import Row, either, rows, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.polarity import plain
from engramlog_server.projections.language.scripts import HAN, begins_with_han, holds_han
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
        rf"|没意思|没钱|无名|不清楚|莫名|{negators.idle()}"
    )
)
"""What holds a negating character and denies nothing, or is a word with an opposite of its own (不该, 无聊)."""


def _not_chinese() -> str:
    return (
        f"[{negators.characters(but='别別非')}](?:有|会|能|想|要|用|必|曾)?|别(?=[^的])|非(?=[去要说])|并非|极少|戒(?![指备尺])"
        f"|{either(negators.chinese('verb'))}"
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
        rf"\b(?:no longer|no one|no-one|{either(negators.english('word'))}|nor|cannot"
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
