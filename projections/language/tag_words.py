"""What the words of `lexicon/tags.tsv` speak for, and the small words that stand beside them (seed 000, section 2.2)."""

from __future__ import annotations

from enum import IntFlag
from functools import cache, reduce
from operator import or_
from typing import NamedTuple

from engramlog_server.projections.language.lexicon import rows


class Family(IntFlag):
    """What a word speaks for. The first eight are the tags that words give, in the order of `context.TAGS`."""

    POSITIVE = 1
    NEGATIVE = 2
    URGENT = 4
    CALM = 8
    DEBUGGING = 16
    TESTING = 32
    API_DESIGN = 64
    DATA_MODEL = 128

    REPAIRED = 256
    """Says that a fault is gone."""
    FAULT = 512
    """A fault: no complaint any more once it is repaired."""


class TagWord(NamedTuple):
    """One word in its forms, and what it speaks for: nothing where it only hides the words inside it."""

    families: Family
    english: tuple[str, ...]
    chinese: tuple[str, ...]
    signs: tuple[str, ...]


@cache
def entries() -> tuple[TagWord, ...]:
    """All words that give tags, and the masks among them, in order."""
    return tuple(TagWord(_families(row["family"]), row["english"], row["chinese"], row["sign"]) for row in rows("tags"))


def _families(names: tuple[str, ...]) -> Family:
    return reduce(or_, (Family[name.upper()] for name in names if name != "mask"), Family(0))


def _words(text: str) -> list[str]:
    return text.split()


LIGHT = frozenset(
    _words("""
    very so really that too a an the any at all quite been be being is was are were feel feels feeling felt much as
    particularly exactly especially have has had get got it s think yet more longer further known to one m ve re single
    """)
)
"""Words that may stand between a negator and what it negates: "not at all happy", "no more errors"."""
FREQUENT = LIGHT | frozenset(_words("i we he she they no"))
"""English words that phrases are not looked up by, since nearly every text has some; none is an entry by itself."""

QUESTIONS_CHINESE = _words("是不是 有没有 会不会 能不能 要不要 想不想")
NEGATORS_CHINESE = _words("不 没 没有 未 无 别 难以")
NO_NEGATORS_CHINESE = _words("不得不 特别 个别 分别 区别 级别 类别 性别")
"""Words that end in a negator's character and deny nothing."""
LIGHT_CHINESE = _words("""
    太 很 怎么 是 会 再 能 够 那么 这么 特别 非常 什么 任何 有 出现 出现过 发生 遇到 遇到过 感到 觉得 必 用 要 想 大 被 让 人
""")
"""Words that may stand between a negator and what it negates: 不是很开心, 没有任何问题."""
