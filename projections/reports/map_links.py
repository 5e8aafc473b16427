"""What joins two memories of a map, and why: associations, keywords that both have, nearness of meaning. Pure.

    keyword = 1 - product over the shared keywords of (1 - rarity * sqrt(weight in one * weight in the other))
    rarity  = 1 - ln(memories that hold the word) / ln(memories of the owner, at least 50)

Keywords are those of `OwnerView.keywords`, given and extracted; endings and case do not part them. So a word that one
memory in ten holds joins hardly anything (0.4 * weight of 400), and one that two hold much. Keywords that tell nothing of what a
memory is about join none: times, numbers, addresses, captions, roles, whoever is only spoken to. Meaning is the cosine of whole
vectors, where it is far above what this memory has with others: 0.5 at least, and 2.5 standard deviations above its mean,
since models differ in how alike they find strangers. Nothing is compared all with all: what lies beyond the memories at
hand is found by the postings of search, and by one product of matrices.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engramlog_server.projections.checks import Check, counted
from engramlog_server.projections.embedding.meaning import KnownVectors, Vectors
from engramlog_server.projections.index.associations import KEYWORD
from engramlog_server.projections.language.keywords import LEAST_WEIGHT
from engramlog_server.projections.language.lexicon import words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN
from engramlog_server.projections.language.synonyms import word_key
from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.language.times.names import MONTH, WEEKDAYS
from engramlog_server.projections.views.quoting import PLAIN_WEIGHING
from engramlog_server.projections.views.view import OwnerView

_MONTH_OR_DAY = rf"(?:{MONTH}|{'|'.join(WEEKDAYS)})"
_NO_LETTERS = regex(r"[\d\W_]+")
_TIME = regex(
    rf"(?:\d[\d\s.:,/-]*(?:am|pm|st|nd|rd|th|h|min|s|years?|days?|hours?|weeks?|months?)?|{_MONTH_OR_DAY})"
    rf"(?:[\s,]+(?:\d[\d.:,/-]*(?:am|pm|st|nd|rd|th)?|{_MONTH_OR_DAY}))*"
)
_UNITS_CHINESE = "年|月|日|号|天|周|星期|礼拜|点|时|分|秒|小时|分钟"
_TIME_CHINESE = regex(
    rf"[第上下本今明昨前后]?[\d一二三四五六七八九十百零两几]*(?:{_UNITS_CHINESE})[\d一二三四五六七日天末]*[份间钟候]?"
)
_DATE_FIRST = regex(r"\d{1,4}[-/.年]\d{1,2}")
_ADDRESS = regex(r"@|://|\bwww\.|\.(?:com|org|net|cn|io|edu|gov|html?|jpe?g|png|gif|webp|pdf)\b")
_CAPTION_TEXT = """
    photo photos photograph photographs photography picture pictures pic pics image images snapshot screenshot
    照片 图片 图像 截图 相片
"""
_CAPTION = frozenset(_CAPTION_TEXT.split())
"""What captions of pictures begin with. Who takes photographs talks of them in other places of a sentence."""
_BRACKETED = r"\[[^\]\n]{0,40}?(?:image|photo|picture|图片|照片)[^\]\n]{0,400}\]"
_IN_CAPTIONS = regex(rf"{_BRACKETED}|(?:{'|'.join(sorted(_CAPTION))})\s+(?:of|showing|with)\b")
_ROLES = frozenset({"user", "users", "assistant", "ai", "chatbot", "bot", "用户", "助手", "助理", "机器人"})
_GREETING = r"(?:hey|hi|hello|thanks|thank you|bye|wow|yeah|yes|no|oh|sorry|congrats|great|cool|你好|您好|谢谢|亲爱的|好的|再见)"
_VAGUE_TEXT = """
    background foreground front side middle bit kind sort lot way stuff thing moment time today tomorrow yesterday week weekend
    month year day night morning evening lately recently chance point part place idea mmm hmm haha wow yum
    不能 不用 不会 想想 看看 试试 有着 带上 截然不同 很感兴趣 感兴趣 了不起 好好 继续下去 及时处理 今天天气 时刻 时候 小时 时间 方面
    知道 后感 在读 美的 好吃 好看 成为 变得 不同 重要 有趣 有意思 更好 一起 大家
    事情 东西 样子 地方 身边 陪伴着 面对 新开 打发 会花
    想法 感觉 问题 情况 内容 方式 建议 今天 明天 昨天 最近 时期
"""
_VAGUE = frozenset(_VAGUE_TEXT.split())
"""Words that say something beside others and nothing by themselves."""


def is_timeless(word: str) -> bool:
    """Whether a keyword is more than a time, a number, or the address of a page, file or person."""
    told = word.lower()
    return not (
        _NO_LETTERS.fullmatch(told)
        or _TIME.fullmatch(told)
        or _TIME_CHINESE.fullmatch(told)
        or _ADDRESS.search(told)
        or _DATE_FIRST.match(told)
    )


def is_of_captions(word: str, text: str) -> bool:
    """Whether a keyword is what captions begin with, and stands in this text in nothing else."""
    told = word.lower()
    if next(iter(told.split()), "") not in _CAPTION:
        return False
    left = _IN_CAPTIONS.sub(" ", text.lower())
    return told not in left


def names_nothing(word: str) -> bool:
    """Whether a word is no name of anything by itself: a role of who speaks, or a word that says nothing alone."""
    parts = word.lower().split()
    return all(part in _ROLES or part in _VAGUE for part in parts) or (len(word) == 1 and not word.isascii())


@cache
def _surnames() -> frozenset[str]:
    return frozenset(words("surnames", "chinese"))


def is_called(word: str, text: str) -> bool:
    """Whether somebody of this name is only spoken to in a text, or says who he is: no name of what is talked about."""
    told = word.lower()
    if told.isascii():
        return " " not in told and _called_english(told).search(text.lower()) is not None
    if not 2 <= len(told) <= 4 or not (told[0] in _surnames() or len(told) == 2):
        return False
    return _name(told).search(text.lower()) is not None


def _name(word: str) -> re.Pattern[str]:
    told = re.escape(word)
    before = "" if word[0] in _surnames() else f"[{HAN}]?"
    called = rf"(?:^|[。！？!?\n\]]\s*|{_GREETING}[，,！! ]?\s*){before}{told}(?=[，,！!。~：:]|$)"
    return re.compile(rf"{called}|(?:我叫|我是|名字是|名叫|叫做){before}{told}")


def _called_english(word: str) -> re.Pattern[str]:
    told = re.escape(word)
    return re.compile(rf"\b{_GREETING},? {told}\b|, {told}[!.?]|\b(?:my name is|i'm|i am|call me) {told}\b")


MEANING = "meaning"
LEAST_COSINE = 0.5
DEVIATIONS = 2.5
LEAST_APART = 0.05
"""So much more alike than any two at the least."""
LEAST_TELLING = 0.2
"""By meaning only such memories are joined as have a keyword that is worth so much, and is not one of the common words that stand
in where there are no others: or all thanks and greetings would be."""
LEAST_WORTH = 0.05
"""A shared keyword that is worth less, such as the name of who speaks all the time, joins nothing."""
MOST_ALIKE = 3
"""By meaning a memory is joined with so many, those nearest to it."""
MOST_SOUGHT = 24
"""Memories that are looked at beyond the map for one keyword, those that search finds best."""
MOST_HOLDING, FOLLOWING = 100, 8
"""A word that more memories on hand hold joins each with so many that came next: so that the pairs stay in bounds."""
MOST_TOLD = 5
"""Keywords told of a link, the rarest."""
_EVERY = 8
"""Rows looked at between two checks."""
_SAMPLE = 2_000
"""Memories against which it is told how alike a memory is to any."""
_FEW = 50
"""Memories of an owner under which a word of two of them counts as rare all the same."""
_FEW_KNOWN = 10
"""Vectors under which nobody can say how alike strangers are."""

Pair = tuple[int, int]
Flags = npt.NDArray[np.bool_]


class Reason(NamedTuple):
    """Why two memories are joined: a kind of association, or meaning, with its weight in (0, 1]."""

    link: str
    weight: float
    keywords: tuple[str, ...] = ()


class MapLink(NamedTuple):
    """Two rows, the smaller first, and why they are joined, the strongest reason first."""

    a: int
    b: int
    reasons: tuple[Reason, ...]

    @property
    def weight(self) -> float:
        """That of the strongest reason."""
        return self.reasons[0].weight


class _Spelled(NamedTuple):
    word: str
    weight: float


class MapLinks:
    """The links between rows that may be shown. For one map."""

    def __init__(self, view: OwnerView, shown: Flags, near: KnownVectors | None, check: Check) -> None:
        """`near`: the vectors of rows, where there is an embedder."""
        self._view = view
        self._shown = shown
        self._near = near
        self._check = check
        self._associations = view.associated(check)
        self._keys: dict[int, dict[str, _Spelled]] = {}
        self._rarities: dict[str, float] = {}
        self._sought: dict[str, list[int]] = {}

    def joins(self, row: int) -> bool:
        """Whether a row may be joined with others: it is shown, no secret, and nothing has taken it out of the live ones."""
        return bool(self._shown[row]) and row in self._associations

    def keys(self, row: int) -> dict[str, _Spelled]:
        """A row's keywords by what their forms have in common, but for those that tell nothing of what it is about."""
        found = self._keys.get(row)
        if found is None:
            found = self._keys[row] = {}
            content = self._view.columns.memories[row].content
            for one in self._view.keywords(row):
                if not is_timeless(one.word) or is_of_captions(one.word, content):
                    continue
                found.setdefault(word_key(one.word), _Spelled(one.word, one.weight))
        return found

    def rarity(self, key: str, word: str) -> float:
        """How rare a keyword is in what the owner's memories say, from 0 to 1; by its rarest part."""
        found = self._rarities.get(key)
        if found is None:
            count, terms = len(self._view), tokens(word)
            idf = max((self._view.idf(term) for term in terms), default=0.0)
            holding = max(1.0, (count + 1) * exp(-idf) - 0.5)
            found = 1 - log(holding) / log(max(count, _FEW))
            found = self._rarities[key] = min(1.0, max(0.0, found))
        return found

    def beyond(self, rows: Sequence[int], least: float) -> tuple[list[MapLink], int]:
        """Links of weight `least` and more from these rows to any, and how many weaker associations there are."""
        pairs: set[Pair] = set()
        told: dict[Pair, Reason] = {}
        for row in counted(rows, self._check, len(rows), every=_EVERY):
            if not self.joins(row):
                continue
            told |= self._associated(row)
            for key, one in self.keys(row).items():
                if self.rarity(key, one.word) >= least:
                    pairs.update(_pair(row, other) for other in self._holding(key, one.word) if other != row)
        alike = self._alike(rows, None)
        found = self._linked(pairs | told.keys() | alike.keys(), told, alike)
        return [one for one in found if one.weight >= least], sum(one.weight < least for one in found)

    def among(self, rows: Sequence[int]) -> list[MapLink]:
        """All links between these rows, each once, in order of rows."""
        inside = {row for row in rows if self.joins(row)}
        told: dict[Pair, Reason] = {}
        holding: dict[str, list[int]] = defaultdict(list)
        for row in counted(sorted(inside), self._check, len(inside), every=_EVERY):
            told |= {pair: one for pair, one in self._associated(row).items() if inside.issuperset(pair)}
            for key in self.keys(row):
                holding[key].append(row)
        pairs = {pair for held in holding.values() for pair in _pairs(held)}
        alike = self._alike(sorted(inside), sorted(inside))
        return self._linked(pairs | told.keys() | alike.keys(), told, alike)

    def _linked(self, pairs: Iterable[Pair], told: dict[Pair, Reason], alike: dict[Pair, Reason]) -> list[MapLink]:
        found = []
        for a, b in sorted(pairs):
            reasons = [one for one in (told.get((a, b)), alike.get((a, b))) if one is not None]
            words = self._worded(a, b)
            if words is not None:
                given = next((one for one in reasons if one.link == KEYWORD), None)
                reasons = [one for one in reasons if one.link != KEYWORD]
                reasons.append(words if given is None else words._replace(weight=max(words.weight, given.weight)))
            if reasons:
                found.append(MapLink(a, b, tuple(sorted(reasons, key=lambda one: (-one.weight, one.link)))))
        return found

    def _associated(self, row: int) -> dict[Pair, Reason]:
        """The associations of a row with others that may be shown."""
        neighbours = self._associations.neighbours(row, self._view.parameters)
        return {
            _pair(row, link.to_row): Reason(link.link, link.weight) for link in neighbours if self._shown[link.to_row]
        }

    def _worded(self, a: int, b: int) -> Reason | None:
        """What keywords two rows share; None where they share none that counts."""
        mine, theirs = self.keys(a), self.keys(b)
        shared = []
        for key in mine.keys() & theirs.keys():
            word = min(mine[key].word, theirs[key].word, key=lambda one: (len(one), one))
            worth = self.rarity(key, word) * sqrt(mine[key].weight * theirs[key].weight)
            if worth >= LEAST_WORTH:
                shared.append((-worth, word))
        if not shared:
            return None
        shared.sort()
        apart = 1.0
        for worth, _ in shared:
            apart *= 1 + worth
        return Reason(KEYWORD, min(1.0, 1 - apart), tuple(word for _, word in shared[:MOST_TOLD]))

    def _holding(self, key: str, word: str) -> list[int]:
        """Rows that have a keyword, among those that search finds best by it."""
        found = self._sought.get(key)
        if found is None:
            rows, scores, _ = self._view.matches_of(dict.fromkeys(tokens(word), 1.0), PLAIN_WEIGHING)
            kept = self._shown[rows]
            rows, scores = rows[kept], scores[kept]
            best = rows[np.lexsort((-rows, -scores))[:MOST_SOUGHT]].tolist()
            found = self._sought[key] = [row for row in best if self.joins(row) and key in self.keys(row)]
        return found

    def _alike(self, rows: Sequence[int], among: Sequence[int] | None) -> dict[Pair, Reason]:
        """The nearest by meaning of each of these rows, `among` others or all that may be shown."""
        if self._near is None or not len(rows):
            return {}
        wholes, known = self._near.wholes, self._near.known
        room = np.flatnonzero(known & self._shown[: len(known)]) if among is None else np.array(among, dtype=np.int64)
        room = room[(room < len(known)) & known[np.minimum(room, len(known) - 1)]]
        asked = [row for row in rows if row < len(known) and known[row] and self._tells(row)]
        if not asked or room.size < 2:
            return {}
        self._check(0, len(asked))
        least = self._floors(asked)
        near = wholes[asked] @ wholes[room].T
        found: dict[Pair, Reason] = {}
        for row, cosines, floor in zip(asked, near, least.tolist(), strict=True):
            cosines[room == row] = -1.0
            high = np.flatnonzero(cosines >= floor)
            for at in high[np.lexsort((room[high], -np.round(cosines[high], 6)))[:MOST_ALIKE]].tolist():
                if self._tells(other := int(room[at])):
                    found[_pair(row, other)] = Reason(MEANING, min(1.0, float(cosines[at])))
        return found

    def _tells(self, row: int) -> bool:
        """Whether a row says something in particular."""
        return self.joins(row) and any(
            one.weight > LEAST_WEIGHT and self.rarity(key, one.word) * one.weight >= LEAST_TELLING
            for key, one in self.keys(row).items()
        )

    def _floors(self, rows: Sequence[int]) -> Vectors:
        """The cosine from which each of the rows is joined."""
        assert self._near is not None
        every = np.flatnonzero(self._near.known)
        sample = every[:: max(1, -(-every.size // _SAMPLE))]
        if sample.size < _FEW_KNOWN:
            return np.full(len(rows), LEAST_COSINE, dtype=np.float32)
        cosines = self._near.wholes[list(rows)] @ self._near.wholes[sample].T
        found: Vectors = np.maximum(
            LEAST_COSINE, cosines.mean(axis=1) + np.maximum(DEVIATIONS * cosines.std(axis=1), LEAST_APART)
        )
        return found


def _pairs(held: Sequence[int]) -> Iterator[Pair]:
    """Each two of the ascending rows that hold a word; where they are many, each and those that follow it at once."""
    reach = len(held) if len(held) <= MOST_HOLDING else FOLLOWING
    for at, a in enumerate(held):
        for b in held[at + 1 : at + 1 + reach]:
            yield a, b


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
